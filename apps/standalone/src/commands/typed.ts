import { relative } from 'node:path';

interface Started {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a reader types before the name of a command, by how this program was started: through npm, or as the program itself. */
export function prefixOf({ argv, cwd, env }: Started): string {
  if (env['npm_lifecycle_script']?.includes('tools/run.mjs')) return 'npm run conclave --';
  const path = relative(cwd, argv[1] ?? '');
  return `node ${path.startsWith('..') ? (argv[1] ?? '') : path}`;
}

/**
 * Help and sentences of this program with commands as they can be typed: `conclave keys list` in backticks or at the beginning of an indented
 * line becomes `<prefix> keys list`. What stands beside such a line in a second column moves with it.
 */
export function asTyped(text: string, prefix: string): string {
  const wider = ' '.repeat(Math.max(0, prefix.length - 'conclave'.length));
  const hasColumns = /^ {2}conclave /m.test(text);
  return text
    .split('\n')
    .map((line) => {
      const quoted = line.replaceAll('`conclave ', `\`${prefix} `);
      if (!hasColumns) return quoted;
      if (/^ {2}conclave /.test(quoted)) return quoted.replace('conclave', () => prefix);
      if (/^ {20,}\S/.test(quoted)) return wider + quoted;
      return /^ {6}\S/.test(quoted) ? quoted.replace(/ {2,}(?=[^ ]+(?: [^ ]+)*$)/, (gap) => gap + wider) : quoted;
    })
    .join('\n');
}

export const commandPrefix = prefixOf({ argv: process.argv, cwd: process.cwd(), env: process.env });

/** `asTyped` for this process. */
export const typed = (text: string): string => asTyped(text, commandPrefix);
