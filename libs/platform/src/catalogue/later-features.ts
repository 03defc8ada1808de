import { availableCapabilities, availableStrategies, type Configuration, type TemplateSettings } from '@conclave/contracts';

/** Sentences about what the configuration asks for and this version does not do yet. It is read, so that the file stays valid. */
export function laterFeatures(configuration: Configuration): string[] {
  const general = [
    ...(Object.keys(configuration.mcp).length > 0 ? ['mcp: tool servers come with a later version; they are not started.'] : []),
    ...(configuration.stores.chroma ? ['stores.chroma: vectors come with a later version; ChromaDB is not used.'] : []),
  ];
  return [...general, ...Object.entries(configuration.templates).flatMap(([id, template]) => ofTemplate(id, template))];
}

function ofTemplate(id: string, template: TemplateSettings): string[] {
  const at = `templates.${id}`;
  if (!availableStrategies.includes(template.strategy)) {
    return [
      `${at}: strategy ${template.strategy} comes with a later version; the template is not offered. Available: ${availableStrategies.join(', ')}.`,
    ];
  }
  const caches = Object.entries(template.caches).filter(([, on]) => on).map(([name]) => name); // prettier-ignore
  const later = template.capabilities.filter((name) => !availableCapabilities.includes(name));
  const experts = Object.entries(template.experts);
  const t2 = experts.filter(([, { t2: tier }]) => tier).map(([category]) => category);
  const always = experts.filter(([, expert]) => expert.always).map(([category]) => category);
  return [
    ...(t2.length > 0 ? [`${at}: t2 models (${t2.join(', ')}) come with a later version; t1 answers alone.`] : []),
    ...(always.length > 0 ? [`${at}: \`always\` (${always.join(', ')}) comes with a later version; the planner chooses.`] : []),
    ...(caches.length > 0 ? [`${at}: caches (${caches.join(', ')}) come with a later version; nothing is cached.`] : []),
    ...(template.thinking ? [`${at}: the thinking step comes with a later version; it is left out.`] : []),
    ...(template.critic ? [`${at}: the critic comes with a later version; answers are not reviewed.`] : []),
    ...(later.length > 0
      ? [`${at}: capabilities ${later.join(', ')} come with a later version; they are not offered to the planner.`]
      : []),
    ...(template.client_tools !== 'ignore'
      ? [`${at}: client_tools: ${template.client_tools} comes with a later version; tools of clients are ignored.`]
      : []),
    ...(template.tool_model ? [`${at}: tool_model comes with a later version; it is not used.`] : []),
  ];
}
