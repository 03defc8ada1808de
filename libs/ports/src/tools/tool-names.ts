import { Failure, nearest } from '@conclave/contracts';
import { oneLine } from './tool-text.js';

/**
 * Resolves a tool name within `known` (`server.tool` each): an exact name, or the only tool of that name if the server was omitted. Throws
 * TOOL_UNKNOWN with the nearest one.
 */
export function toolCalled(name: string, known: readonly string[]): string {
  if (known.includes(name)) return name;
  const withoutServer = known.filter((candidate) => candidate.endsWith(`.${name}`) && name !== '');
  if (withoutServer.length === 1) return withoutServer[0]!;
  const shown = oneLine(name, 100);
  const near = known.length === 0 ? undefined : (nearest(shown, known) ?? nearestTool(shown, known));
  const remedy = near ? `Did you mean \`${near}\`?` : known.length === 0 ? 'No server offers any.' : `There are ${known.length} others.`;
  throw new Failure('TOOL_UNKNOWN', `It was called \`${shown}\`. ${remedy}`);
}

/** Compares the tool's own name only, in case the server was named wrongly. */
function nearestTool(name: string, known: readonly string[]): string | undefined {
  const alone = (full: string): string => full.slice(full.indexOf('.') + 1);
  const near = nearest(alone(name), known.map(alone));
  return near === undefined ? undefined : known.find((full) => alone(full) === near);
}
