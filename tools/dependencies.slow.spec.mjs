import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import ts from 'typescript';
import { sourceFolders } from '../tests/support/jest/levels.mjs';
import { runInGroup } from '../tests/support/jest/process-group.mjs';
import { filesUnder, projects, workspaceRoot } from './workspace.mjs';

jest.setTimeout(120_000);

/** Knip's findings about the dependencies of a workspace: `<file>: <kind> <package>`. */
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

/**
 * The imports of each file in these folders, including lazy and type-only ones, as paths relative to the root. `entrances`: entry file by
 * package name.
 */
function importsIn(root, folders, entrances) {
  const files = folders
    .flatMap((folder) => filesUnder(folder, root).map((path) => normalize(path)))
    .filter((path) => /\.(ts|mjs)$/.test(path));
  const known = new Set(files);
  const fileOf = (from, name) => {
    if (!name.startsWith('.')) return entrances[name];
    const path = join(from, '..', name);
    return known.has(path) ? path : path.replace(/\.js$/, '.ts');
  };
  const importsOf = (path) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(root, path), 'utf8'), true, true);
    return importedFiles.map(({ fileName }) => fileOf(path, fileName)).filter((to) => known.has(to));
  };
  return new Map(files.map((path) => [path, importsOf(path)]));
}

/** At least one cycle of each group of files that import one another, as `a.ts -> b.ts -> a.ts`. */
function circlesOf(imports) {
  const circles = [];
  const done = new Set();
  const follow = (file, way) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
    if (done.has(file)) return;
    done.add(file);
    for (const to of imports.get(file)) follow(to, [...way, file]);
  };
  for (const file of imports.keys()) follow(file, []);
  return circles;
}

describe('imports', () => {
  it('form no circle, not even with type-only imports', () => {
    const entrances = projects().flatMap(({ folder, name }) => {
      const { exports = {} } = JSON.parse(readFileSync(join(workspaceRoot, folder, 'package.json'), 'utf8'));
      return Object.entries(exports).map(([way, path]) => [join(name, way), join(folder, path)]);
    });
    const imports = importsIn(workspaceRoot, sourceFolders, Object.fromEntries(entrances));
    // Follows an imported package into its files.
    expect(imports.get('apps/planner/src/start.ts')).toContain('libs/host/src/index.ts');
    expect(circlesOf(imports)).toEqual([]);
  });

  it('that form a circle are named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-circles-'));
    const files = {
      'start.ts': `import { middle } from 'a-package';`,
      'middle.ts': `export type { End } from './end.js';\nexport const lazy = () => import('./other.js');`,
      'end.ts': `import type { Middle } from './middle.js';`,
      'other.ts': `export type Start = import('./start.js').Start;`,
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    try {
      expect(circlesOf(importsIn(folder, ['.'], { 'a-package': 'middle.ts' })).sort()).toEqual([
        'end.ts -> middle.ts -> end.ts',
        'middle.ts -> other.ts -> start.ts -> middle.ts',
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
