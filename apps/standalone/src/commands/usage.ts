import { parseArgs, type ParseArgsConfig } from 'node:util';

/** An invalid command line; the message says what to write instead. */
export class UsageMistake extends Error {}

/** Edit distance: insertions, deletions, substitutions and swaps of neighbouring letters. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i += 1)
    for (let j = 1; j <= b.length; j += 1) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? rows[i - 2]![j - 2]! + 1 : Infinity;
      const exchanged = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      rows[i]![j] = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, exchanged, swapped);
    }
  return rows[a.length]![b.length]!;
}

/** The known word that was probably meant; null if none is close. */
export function meant(word: string, known: readonly string[]): string | null {
  const [nearest] = known
    .map((one) => ({ one, steps: one.startsWith(word) && word.length > 2 ? 1 : distance(word, one) }))
    .sort((a, b) => a.steps - b.steps);
  return nearest && nearest.steps <= Math.max(1, Math.floor(word.length / 3)) && word.length > 1 ? nearest.one : null;
}

/** `parseArgs` with readable errors. Throws UsageMistake. */
export function readArguments<const T extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('ERR_PARSE_ARGS')) throw error;
    const option = (/--[\w-]+/.exec(message) ?? /-\w/.exec(message))?.[0] ?? '';
    const name = option.replace(/^-+/, '');
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
      const near = meant(name, Object.keys(options));
      throw new UsageMistake(`There is no option ${option}.${near ? ` Did you mean --${near}?` : ''} \`conclave help\` lists all.`, {
        cause: error,
      });
    }
    throw new UsageMistake(`Option ${option} ${options[name]?.type === 'string' ? 'needs a value' : 'takes no value'}.`, { cause: error });
  }
}

/** The integer value of an option, within bounds. Throws UsageMistake. */
export function numberOf(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most)
    throw new UsageMistake(`--${name} must be a whole number from ${least} to ${most}.`);
  return value;
}
