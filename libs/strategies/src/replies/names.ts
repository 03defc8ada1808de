import type { Template } from '@conclave/contracts';

/** An unvalidated JSON object of a reply. */
export type Loose = Record<string, unknown>;
export const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The offered tool that a name means: models omit the server or write dashes for underscores. */
export function toolOf(said: string | null, template: Template): string | null {
  if (said === null) return null;
  const offered = (template.tools ?? []).map(({ name }) => name);
  if (offered.includes(said)) return said;
  const bare = (name: string): string =>
    name
      .slice(name.indexOf('.') + 1)
      .toLowerCase()
      .replaceAll('-', '_');
  const close = offered.filter((name) => bare(name) === bare(said));
  return close.length === 1 ? close[0]! : said;
}
