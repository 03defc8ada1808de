import { type Configuration, Failure, type Template, type TemplateSettings, type ToolOffer } from '@conclave/contracts';

/**
 * The tools that a template's plans may call: those of the servers and tools it names, or of every server. A tool that does not declare
 * itself read-only is included only if the template names exactly this tool, or if its server has `may_write`: text on a retrieved page
 * must not be able to make a plan delete something. Throws Failure CONFIGURATION_INVALID for a server that is not configured.
 *
 * @param named Tools that options of the strategy name.
 */
export function offeredTools(
  id: string,
  { tools }: Pick<TemplateSettings, 'tools'>,
  { mcp }: Pick<Configuration, 'mcp'>,
  offered: readonly ToolOffer[],
  named: readonly string[] = [],
): readonly ToolOffer[] {
  const servers = Object.keys(mcp);
  const isOf = (tool: string, server: string): boolean => tool.startsWith(`${server}.`);
  for (const name of tools ?? [])
    if (!servers.some((server) => name === server || isOf(name, server)))
      throw new Failure(
        'CONFIGURATION_INVALID',
        `templates.${id}.tools: there is no tool server for ${name}. Servers under \`mcp\`: ${servers.join(', ') || 'none'}.`,
      );
  return offered.filter(
    ({ name, readOnly }) =>
      (tools?.some((one) => name === one || isOf(name, one)) ?? true) &&
      (readOnly === true || (tools ?? named).includes(name) || servers.some((server) => isOf(name, server) && mcp[server]!.may_write)),
  );
}

/**
 * One sentence that names the tools that may change something and that no template may call; an empty list if there are none. A tool that
 * does not say either was stored by a version that did not ask, and is listed anew within seconds.
 */
export function withheldTools(offered: readonly ToolOffer[], templates: readonly Pick<Template, 'tools'>[]): readonly string[] {
  const given = new Set(templates.flatMap(({ tools = [] }) => tools.map(({ name }) => name)));
  const names = offered.flatMap(({ name, readOnly }) => (readOnly !== false || given.has(name) ? [] : [name]));
  return names.length === 0
    ? []
    : [
        `No template may call these tools, which do not say that they change nothing: ${names.join(', ')}. Name them under \`tools\` of a template, or set \`may_write: true\` of their server.`,
      ];
}
