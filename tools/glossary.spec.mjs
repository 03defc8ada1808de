import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { filesUnder, projects, workspaceRoot } from './workspace.mjs';

const isShipped = (path) => /\.tsx?$/.test(path) && !/\.spec\.tsx?$|\/__fixtures__\/|\.d\.ts$/.test(path);

/** Source text by path, relative to its package, for each package by its folder. */
const workspace = () =>
  new Map(
    projects()
      .map(({ folder }) => folder)
      .filter((folder) => /^(?:libs|apps)\//.test(folder))
      .map((folder) => [
        folder,
        new Map(
          filesUnder(`${folder}/src`)
            .filter(isShipped)
            .map((path) => [path.slice(folder.length + 1), readFileSync(join(workspaceRoot, path), 'utf8')]),
        ),
      ]),
  );

/** Names of the types that a file declares. Declarations inside functions are indented and do not count. */
const typesIn = (text) =>
  [...text.matchAll(/^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm)].map(([, name]) => name);

/** Names that others can import from the entry of a package. */
function exportedFrom(files, path = 'src/index.ts') {
  const text = files.get(path) ?? '';
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) =>
    names.split(',').map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .split(' as ')
        .at(-1),
    ),
  );
  const passedOn = [...text.matchAll(/^export \* from '(\.[^']+)\.js'/gm)].flatMap(([, from]) => [
    ...exportedFrom(files, join(dirname(path), `${from}.ts`)),
  ]);
  const own = [...text.matchAll(/^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm)].map(([, name]) => name);
  return new Set([...listed, ...passedOn, ...own]);
}

/** Types that one package exports and another package declares, as `<name>: <folder of each>`. */
function sharedNames(packages) {
  const declaring = new Map();
  for (const [folder, files] of packages)
    for (const name of [...files.values()].flatMap(typesIn)) declaring.set(name, (declaring.get(name) ?? new Set()).add(folder));
  const exported = new Map([...packages].map(([folder, files]) => [folder, exportedFrom(files)]));
  return [...declaring]
    .filter(([name, folders]) => folders.size > 1 && [...folders].some((folder) => exported.get(folder).has(name)))
    .map(([name, folders]) => `${name}: ${[...folders].sort().join(', ')}`)
    .sort();
}

describe('the name of a type that a package exports', () => {
  it('is declared in no other package', () => {
    expect(sharedNames(workspace())).toEqual([]);
  });

  const ports = new Map([
    ['src/index.ts', "export * from './runs.js';\nexport { type Lag, openLog } from './log.js';\n"],
    ['src/runs.ts', 'export interface Run {\n  readonly id: string;\n}\ntype Local = string;\n'],
    ['src/log.ts', 'export type Lag = number;\nexport class Hidden {}\n'],
  ]);

  it.each([
    ['a type that is exported by `export *`', 'interface Run {}', ['Run: libs/adapters/kafka, libs/ports']],
    ['a type that is exported by name', 'export type Lag = bigint;', ['Lag: libs/adapters/kafka, libs/ports']],
    ['types that neither package exports', 'type Local = number;\nexport class Hidden {}', []],
    ['a type inside a function', 'function read() {\n  type Run = string;\n}', []],
  ])('is compared with other packages: %s', (_what, text, found) => {
    const kafka = new Map([['src/read.ts', text]]);
    expect(
      sharedNames(
        new Map([
          ['libs/ports', ports],
          ['libs/adapters/kafka', kafka],
        ]),
      ),
    ).toEqual(found);
  });
});
