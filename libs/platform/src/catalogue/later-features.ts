import { availableStrategies, type Configuration, type TemplateSettings } from '@conclave/contracts';

/** Sentences about what the configuration asks for and this version does not do yet. It is read, so that the file stays valid. */
export const laterFeatures = (configuration: Configuration): string[] =>
  Object.entries(configuration.templates).flatMap(([id, template]) => ofTemplate(id, template));

function ofTemplate(id: string, template: TemplateSettings): string[] {
  const at = `templates.${id}`;
  if (!availableStrategies.includes(template.strategy)) {
    return [
      `${at}: strategy ${template.strategy} comes with a later version; the template is not offered. Available: ${availableStrategies.join(', ')}.`,
    ];
  }
  return [
    ...(template.client_tools !== 'ignore'
      ? [`${at}: client_tools: ${template.client_tools} comes with a later version; tools of clients are ignored.`]
      : []),
    ...(template.tool_model ? [`${at}: tool_model comes with a later version; it is not used.`] : []),
  ];
}
