import { KeyLimits } from '@conclave/contracts';
import { meant, UsageMistake } from './usage.js';

const limitNames = Object.keys(KeyLimits.shape) as (keyof KeyLimits)[];

/** Lines of a help page about `--user-limit`. */
export const userLimitHelp = `      --user-limit <name>=<number>     the same for each end user whom its requests name
      --no-user-limits                 removes these`;

/** Lines of a help page about `--limit`. */
export const limitHelp = `      --limit <name>=<number>          can be repeated; <name>=none removes one. Names:
${[limitNames.slice(0, 3), limitNames.slice(3)].map((names) => `                                       ${names.join(', ')}`).join(',\n')}
      --no-limits                      removes all limits`;

/**
 * Limits after `--limit name=number …` and `--no-limits`, or another such option; undefined if neither is set. Limits that are not named
 * stay as in `present`. Throws UsageMistake; the gateway decides which numbers are valid.
 */
export function limitsFrom(
  given: readonly string[] | undefined,
  none: boolean | undefined,
  present: KeyLimits | null,
  option = 'limit',
): KeyLimits | null | undefined {
  if (!given) return none ? null : undefined;
  const named = Object.fromEntries(given.map((text) => limitFrom(text, option)));
  const limits: Partial<KeyLimits> = { ...(none ? null : present), ...named };
  const all = Object.fromEntries(limitNames.map((name) => [name, limits[name] ?? null])) as KeyLimits;
  return limitNames.every((name) => all[name] === null) ? null : all;
}

function limitFrom(text: string, option: string): [string, number | null] {
  const [, name = text, value = ''] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  if (!(limitNames as readonly string[]).includes(name)) {
    const near = meant(name, limitNames);
    throw new UsageMistake(`There is no limit "${name}".${near ? ` Did you mean ${near}?` : ` Known: ${limitNames.join(', ')}.`}`);
  }
  if (value === 'none') return [name, null];
  if (!/^\d+(\.\d+)?$/.test(value) || Number(value) <= 0)
    throw new UsageMistake(`--${option} ${name} needs a number above 0, as in --${option} ${name}=100, or none.`);
  return [name, Number(value)];
}

/** Limits as text for people; empty if there are none. */
export const limitText = (limits: KeyLimits | null): string =>
  Object.entries(limits ?? {})
    .flatMap(([name, limit]) => (limit === null ? [] : [`${name} ${limit}`]))
    .join(', ');

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a time such as `90d`, `12h`, `30m` or `45s`. Null for another text. */
function spanOf(text: string): number | null {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * unitMs[unit as keyof typeof unitMs];
}

/** Milliseconds since 1970 of a date, or of a span from now. Throws UsageMistake. */
export function momentFrom(option: string, text: string, now: number): number {
  const span = spanOf(text);
  const moment = span === null ? (/^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN) : now + span;
  if (!Number.isFinite(moment)) throw new UsageMistake(`--${option} is a span such as 90d, 12h or 30m, or a date such as 2027-01-31.`);
  return moment;
}

/** Whole seconds of a span. Throws UsageMistake. */
export function secondsFrom(option: string, text: string): number {
  const span = spanOf(text);
  if (span === null) throw new UsageMistake(`--${option} is a span such as 7d, 12h, 30m or 45s.`);
  return span / 1_000;
}
