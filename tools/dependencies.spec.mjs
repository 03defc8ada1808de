import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { runInGroup } from './process-group.mjs';
import { workspaceRoot } from './workspace.mjs';

jest.setTimeout(120_000);

/** What Knip has to say about the dependencies of a workspace: `<file>: <kind> <package>`. */
async function findings(cwd) {
  const args = [join(workspaceRoot, 'node_modules/knip/bin/knip.js'), '--no-progress', '--reporter', 'json', '--directory', cwd];
  const { output } = await runInGroup(process.execPath, args, { cwd, env: process.env, limit: 100 });
  const kinds = ['dependencies', 'devDependencies', 'unlisted', 'unresolved'];
  return JSON.parse(output).issues.flatMap((issue) =>
    kinds.flatMap((kind) => issue[kind].map(({ name }) => `${issue.file}: ${kind} ${name}`)),
  );
}

it('every package declares what it imports, and nothing else', async () => {
  expect(await findings(workspaceRoot)).toEqual([]);
});

describe('the same configuration', () => {
  let folder;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'conclave-dependencies-'));
    const files = {
      'package.json': { name: 'a-workspace', private: true, workspaces: ['libs/*'], dependencies: {} },
      'libs/one/package.json': { name: 'one', dependencies: { zod: '4.0.0', two: '*' } },
      'libs/two/package.json': { name: 'two' },
    };
    for (const name of ['one', 'two']) mkdirSync(join(folder, 'libs', name, 'src'), { recursive: true });
    for (const [name, manifest] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(manifest));
    writeFileSync(join(folder, 'libs/one/src/index.ts'), `import 'kafkajs';\n`);
    writeFileSync(join(folder, 'libs/two/src/two.spec.ts'), `import type { One } from 'one';\nexport const lazy = () => import('rxjs');\n`);
    cpSync(join(workspaceRoot, 'knip.json'), join(folder, 'knip.json'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('finds a dependency that nothing imports, and an import that nothing declares', async () => {
    expect((await findings(folder)).sort()).toEqual([
      'libs/one/package.json: dependencies two',
      'libs/one/package.json: dependencies zod',
      'libs/one/src/index.ts: unlisted kafkajs',
      'libs/two/src/two.spec.ts: unlisted one',
      'libs/two/src/two.spec.ts: unlisted rxjs',
    ]);
  });
});
