import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cleared, workspaceRoot, type System } from '@conclave/test-support/system';

/**
 * A fenced block, with the directive in the comment before it: `<!-- run -->`, `<!-- run: stopped -->`, `<!-- shows -->` or `<!-- file:
 * NAME -->`.
 */
export interface Block {
  readonly directive: 'run' | 'shows' | 'file' | null;
  /**
   * For a `file`: its name, relative to the folder in which the page is followed. For a `run`: `stopped` if the server is stopped first.
   */
  readonly name: string | null;
  readonly language: string;
  readonly code: string;
  /** Line of the fence on the page. */
  readonly line: number;
}

export interface Page {
  readonly path: string;
  readonly blocks: readonly Block[];
}

/** A page of the repository with its fenced blocks. Throws for a directive that is not followed by a block. */
export function readPage(path: string): Page {
  const text = readFileSync(join(workspaceRoot, path), 'utf8');
  const fence = /(?:<!-- (run|shows|file)(?:: ([\w./-]+))? -->\s*\n)?^```([\w-]*)\n([\s\S]*?)\n```$/gm;
  const blocks = [...text.matchAll(fence)].map((match): Block => {
    const [whole, directive = null, name = null, language, code] = match;
    const line = text.slice(0, match.index + whole.indexOf('```')).split('\n').length;
    return { directive: directive as Block['directive'], name, language: language!, code: code!, line };
  });
  const directives = [...text.matchAll(/<!-- (run|shows|file)\b/g)].length;
  if (directives !== blocks.filter(({ directive }) => directive).length) throw new Error(`${path} has a directive without a block.`);
  return { path, blocks };
}

/** Output of one block that was run, and the output that the page shows for it. */
export interface Followed {
  readonly block: Block;
  readonly output: string;
  readonly shows: Block | null;
}

/** Writes the files of a page into a folder, as its reader does before the start. */
export function writeFiles({ blocks }: Page, folder: string): void {
  for (const { directive, name, code } of blocks) {
    if (directive !== 'file' || name === null) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `${code}\n`);
  }
}

/** A folder inside the workspace, so that `npm run` and `import` resolve as they do for a reader in the root. */
export function pageFolder(): string {
  const results = join(workspaceRoot, '.results');
  mkdirSync(results, { recursive: true });
  return mkdtempSync(join(results, 'page-'));
}

/** Follows a page: runs all of its blocks, one after the other in one shell, so that variables of one are available in the next. */
export async function follow(page: Page, system: System, folder = pageFolder()): Promise<readonly Followed[]> {
  const runs = page.blocks.flatMap((block, n) => (block.directive === 'run' ? [{ block, next: page.blocks[n + 1] ?? null }] : []));
  const mark = (n: number): string => `@@@ block ${n}`;
  const stopped = '@@@ stop the server';
  const script = runs.flatMap(({ block }, n) => [
    ...(block.name === 'stopped' ? [`echo '${stopped}'; read -r`] : []),
    `echo '${mark(n)}'`,
    `{\n${commandsOf(block, n, folder, system)}\n} </dev/null`,
    'echo',
  ]);
  writeFileSync(join(folder, 'page.sh'), ['exec 2>&1', ...script, `echo '${mark(runs.length)}'`].join('\n'));
  const address = system.url();
  const env = { ...process.env, ...cleared, ...system.environment(), CONCLAVE_URL: address, PORT: new URL(address).port };
  const child = spawn('bash', ['-eu', '-o', 'pipefail', 'page.sh'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: 100_000,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
    if (part.includes(stopped))
      void system
        .process('gateway')
        .stop()
        .then(() => child.stdin.write('\n'));
  });
  await new Promise<void>((resolve) => child.once('close', () => resolve()));
  rmSync(folder, { recursive: true });
  return runs.map(({ block, next }, n) => {
    const [from, to] = [output.indexOf(`${mark(n)}\n`), output.indexOf(mark(n + 1))];
    if (from < 0 || to < 0) throw new Error(`${page.path}:${block.line} failed or was not reached.\n${output.slice(-2_000)}`);
    return { block, output: output.slice(from + mark(n).length + 1, to), shows: next?.directive === 'shows' ? next : null };
  });
}

/** Only the address and the data folder differ from the page: a test cannot rely on port 8080. */
function commandsOf({ language, code, line }: Block, n: number, folder: string, system: System): string {
  const text = code
    .replaceAll(/(?:127\.0\.0\.1|localhost):8080/g, new URL(system.url()).host)
    .replaceAll('.conclave/admin.key', system.environment()['CONCLAVE_ADMIN_KEY_FILE']!);
  if (language === 'sh') return text;
  if (language !== 'js') throw new Error(`The block at line ${line} is to be run, but is neither sh nor js.`);
  const file = join(folder, `block-${n}.mjs`);
  writeFileSync(file, text);
  return `node ${file}`;
}

/** Lines that a page shows and that did not appear, in this order; `…` on the page matches any text. */
export function missingLines(shows: Block, output: string): readonly string[] {
  let at = 0;
  const missing: string[] = [];
  for (const line of shows.code.split('\n')) {
    for (const part of line
      .split('…')
      .map((one) => one.trim())
      .filter((one) => one !== '')) {
      const found = output.indexOf(part, at);
      if (found < 0) missing.push(line);
      else at = found + part.length;
    }
  }
  return missing;
}
