import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { programOptions } from './build.mjs';
import { workspaceRoot } from './workspace.mjs';

mkdirSync(join(workspaceRoot, '.results'), { recursive: true });
const folder = mkdtempSync(join(workspaceRoot, '.results/lines-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The stderr of a bundled program that has ended. */
async function failureOf(source) {
  const file = join(folder, 'program.ts');
  writeFileSync(file, source);
  const outfile = join(folder, 'program.js');
  await build({ ...programOptions, splitting: false, entryPoints: [file], outfile, write: true, metafile: false });
  return spawnSync(process.execPath, [outfile], { encoding: 'utf8', timeout: 20_000 });
}

describe('a bundled program that fails', () => {
  const filler = `const filler = '${'x'.repeat(50_000)}';\n`;
  const failing = `${filler}interface Plan { steps: string[] }\n\nconst fail = (plan: Plan) => {\n  throw new Error('No ' + plan.steps[0] + filler.length);\n};\n`;

  it.each([
    ['later', `${failing}setTimeout(() => fail({ steps: ['one'] }));`],
    ['at once', `${failing}await Promise.resolve();\nfail({ steps: ['one'] });`],
    ['in a promise that nobody awaits', `${failing}void Promise.resolve().then(() => fail({ steps: ['one'] }));`],
  ])('names the TypeScript lines and not its own: %s', async (_, source) => {
    const { status, stderr } = await failureOf(source);
    expect(status).toBe(1);
    expect(stderr.split('\n').slice(0, 2)).toEqual(['Error: No one50000', `    at fail (${join(folder, 'program.ts')}:5:9)`]);
    // Node prints the line of the bundle, too, when an error ends a process: here 50,000 characters.
    expect(stderr.length).toBeLessThan(2_000);
  });

  it('shows what is thrown besides errors', async () => {
    const { status, stderr } = await failureOf("setTimeout(() => {\n  throw { code: 'E_ODD' };\n});");
    expect([status, stderr]).toEqual([1, "{ code: 'E_ODD' }\n"]);
  });
});
