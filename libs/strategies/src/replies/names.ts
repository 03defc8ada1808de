import type { Template } from '@conclave/contracts';

/** An unvalidated JSON object of a reply. */
export type Loose = Record<string, unknown>;
export const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The offered tool that a name means; the name itself if that is not clear. */
export const toolOf = (said: string | null, template: Template): string | null =>
  said === null
    ? null
    : nameMeant(
        said,
        (template.tools ?? []).map(({ name }) => name),
      );

/**
 * The one of `server.tool` names that a name means, whatever its case and separators: models omit the server, and write `createGame` and
 * `chess_create_game` for `chess.create-game`. The name itself if none or several may be meant.
 */
export function nameMeant(said: string, names: readonly string[]): string {
  if (names.includes(said)) return said;
  const meant = [folded(said), folded(bareOf(said))];
  for (const part of [folded, (name: string) => folded(bareOf(name))]) {
    const close = names.filter((name) => meant.includes(part(name)));
    if (close.length > 0) return close.length === 1 ? close[0]! : said;
  }
  return said;
}

const folded = (name: string): string => name.toLowerCase().replace(/[\s._-]/g, '');

/** Names of tools with those first that a wrong name most likely means: of the same words, or of the same server. */
export function likeliest(said: string, offered: readonly string[]): readonly string[] {
  const wanted = new Set(wordsOf(bareOf(said)));
  const server = said.includes('.') ? said.slice(0, said.indexOf('.') + 1) : null;
  const score = (name: string): number =>
    2 * wordsOf(bareOf(name)).filter((word) => wanted.has(word)).length + (server !== null && name.startsWith(server) ? 1 : 0);
  return [...offered].sort((a, b) => score(b) - score(a));
}

/** Whether every word of a wrong name is in that of a tool, apart from their servers: `register` means `lab.register_sample`. */
export function isWithin(said: string, name: string): boolean {
  const words = wordsOf(bareOf(name));
  return wordsOf(bareOf(said)).every((word) => words.includes(word));
}

/** A tool's name without its server. */
const bareOf = (name: string): string => name.slice(name.indexOf('.') + 1);
/** Words of a name, without the ending of a plural. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1)
    .map((word) => word.replace(/s$/, ''));
