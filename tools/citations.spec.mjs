// Checks the pages that cite tests and commands as proof (docs/status.md, docs/guarantees.md): everything cited must exist. The files, scripts
// and pages that any page names must exist, too. Runs none of them.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { jest as program } from '../tests/support/jest/run.mjs';
import { runInGroup } from '../tests/support/jest/process-group.mjs';
import { levels, specFiles, unchosen } from '../tests/support/jest/levels.mjs';
import { filesUnder, workspaceRoot } from './workspace.mjs';

jest.setTimeout(60_000);

const text = (path) => readFileSync(join(workspaceRoot, path), 'utf8');

/** The tables of a page, each with its rows as cells, and the numbers of table-like lines outside any table. */
function tablesOf(page) {
  const [tables, strays] = [[], []];
  const lines = page.split('\n');
  let table;
  for (const [n, line] of lines.entries()) {
    if (!line.startsWith('|')) table = undefined;
    else if (table) table.rows.push({ line: n + 1, cells: cellsOf(line) });
    else if (/^\|(-+\|)+$/.test(lines[n + 1] ?? '')) tables.push((table = { header: cellsOf(line), rows: [] }));
    else strays.push(n + 1);
  }
  for (const { rows } of tables) rows.shift();
  return { tables, strays };
}

const cellsOf = (line) =>
  line
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

/** Citations in a cell: text between backticks, with an optional `e2e` before it and a scenario in brackets after it. */
function citationsOf(cell) {
  return [...cell.matchAll(/(e2e )?`([^`]+)`(?: and `([^`]+)`)?(?: \(([a-z -]+)\))?/g)].flatMap(([, e2e, ...[first, second, scenario]]) =>
    [first, second].filter(Boolean).map((code) => ({ code, e2e: e2e !== undefined, scenario: e2e ? scenario : undefined })),
  );
}

/** Why a citation proves nothing, or undefined. */
function flawOf({ code, e2e, scenario }) {
  if (e2e) return flawOfEndToEnd(code, scenario);
  const [first, second, ...rest] = code.split(/\s+/);
  if (first === 'jest') return flawOfJest(second, rest);
  if (first === 'npm') return flawOfScript(code);
  if (first === 'node' || first.startsWith('.ci/')) {
    const file = first === 'node' ? second : first;
    return existsSync(join(workspaceRoot, file)) ? undefined : `there is no ${file}`;
  }
  if (/^describe[A-Z]\w+$/.test(code)) return isSuite(code) ? undefined : `libs/ports has no suite ${code}`;
  return 'this is neither a test nor a command';
}

/** Like jest.config.mjs: the command line determines the level. */
function flawOfJest(folder, patterns) {
  const level = Object.keys(levels).find((name) => [folder, ...patterns].some((word) => levels[name].named.test(word)));
  const files = specFiles(level ? [level] : unchosen, [folder]);
  const idle = (patterns.length > 0 ? patterns : ['']).filter((pattern) => !files.some((name) => new RegExp(pattern).test(name)));
  return idle.length > 0
    ? `no spec file of ${folder} ${level ? `at level ${level} ` : ''}matches ${idle.map((pattern) => `"${pattern}"`).join(', ')}`
    : undefined;
}

function flawOfEndToEnd(name, scenario) {
  const spec = `tests/e2e/src/${name}.e2e.spec.ts`;
  if (!existsSync(join(workspaceRoot, spec))) return `there is no ${spec}`;
  if (scenario === undefined) return undefined;
  const part = `scenarios/${scenario.replaceAll(' ', '-')}.js`;
  return text(spec).includes(part) ? undefined : `${spec} has no ${part}`;
}

const sourcesOf = (folder) =>
  filesUnder(folder)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => text(path));
const isSuite = (name) => sourcesOf('libs/ports/src').some((source) => source.includes(`function ${name}(`));
const hasId = (folder, id) => sourcesOf(folder).some((source) => source.includes(`id: '${id}'`));

/** For each script that takes names: whether a name exists. */
const named = {
  bench: (name) => hasId('bench/src', name),
  eval: (name) => hasId('eval/src', name),
  // The page is generated from the list of scenarios.
  faults: (name) => name.startsWith('kill:') || text('docs/guarantees.md').includes(`npm run faults -- ${name}\``),
};

function flawOfScript(code) {
  const [script, after = ''] = code.replace(/^npm (run )?/, '').split(/ -- /);
  const { scripts } = JSON.parse(text('package.json'));
  if (!(script.split(' ')[0] in scripts)) return `package.json has no script "${script}"`;
  const names = after
    .split(/\s+--/)[0]
    .split(/\s+/)
    .filter((word) => word !== '' && !word.startsWith('-'));
  const missing = names.filter((name) => named[script] && !named[script](name));
  return missing.length > 0 ? `npm run ${script} knows no ${missing.join(', ')}` : undefined;
}

const flaws = (cell) => citationsOf(cell).map(flawOf);

describe.each(['docs/status.md', 'docs/guarantees.md'])('%s', (path) => {
  const { tables, strays } = tablesOf(readFileSync(join(workspaceRoot, path), 'utf8'));
  const promises = tables.filter(({ header }) => header.at(-1) === 'Shown by').flatMap(({ rows }) => rows);

  it('has no row outside of a table', () => expect(strays).toEqual([]));

  it('cites something for every promise, and only things that exist', () => {
    expect(promises.length).toBeGreaterThan(10);
    const wrong = promises.flatMap(({ line, cells }) => {
      const cited = citationsOf(cells.at(-1));
      const found = cited.flatMap((citation) => flawOf(citation) ?? []);
      return cited.length === 0 ? [`line ${line} cites nothing`] : found.map((flaw) => `line ${line}: ${flaw}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('a citation', () => {
  it('is found with all its parts', () => {
    expect(citationsOf('`describeEventLog`: `jest libs/ports memory-log`, e2e `committee` and `kills` (knowledge)')).toEqual([
      { code: 'describeEventLog', e2e: false, scenario: undefined },
      { code: 'jest libs/ports memory-log', e2e: false, scenario: undefined },
      { code: 'committee', e2e: true, scenario: 'knowledge' },
      { code: 'kills', e2e: true, scenario: 'knowledge' },
    ]);
  });

  it('of tests runs at least one file for each of its patterns, at the level that Jest would take', () => {
    expect(flaws('`jest libs/adapters/kafka kafka-log.int`, `jest libs/adapters/redis .int`, `jest tools`')).toEqual(
      Array(3).fill(undefined),
    );
    expect(flaws('`jest libs/adapters/kafka kafka-log`')).toEqual(['no spec file of libs/adapters/kafka matches "kafka-log"']);
    expect(flaws('`jest libs/adapters/redis outage.int no-such.int`')).toEqual([
      'no spec file of libs/adapters/redis at level int matches "no-such.int"',
    ]);
    expect(flaws('`jest libs/nowhere`')).toEqual(['no spec file of libs/nowhere matches ""']);
  });

  it('of integration tests is what Jest itself would run', async () => {
    const args = [program, '--listTests', 'outage.int', '--roots', 'libs/adapters/redis'];
    const { output } = await runInGroup(process.execPath, args, {
      cwd: workspaceRoot,
      env: { ...process.env, TEST_LEVEL: undefined },
      limit: 50,
    });
    expect(output.trim()).toBe(join(workspaceRoot, 'libs/adapters/redis/src/outage.int.spec.ts'));
  });

  it('of end-to-end tests names a file, and a part that the file has', () => {
    expect(flaws('e2e `committee` (pipeline), e2e `memory` (kept answers)')).toEqual([undefined, undefined]);
    expect(flaws('e2e `lunch`')).toEqual(['there is no tests/e2e/src/lunch.e2e.spec.ts']);
    expect(flaws('e2e `demo` (pipeline)')).toEqual(['tests/e2e/src/demo.e2e.spec.ts has no scenarios/pipeline.js']);
  });

  it('of a command names an existing script, and existing benchmarks, evaluations and faults', () => {
    expect(flaws('`npm run bench -- B9 --embedded`, `npm run eval -- routing`, `npm run faults -- poison --controls`')).toEqual(
      Array(3).fill(undefined),
    );
    expect(flaws('`npm run bench -- B77`, `npm run lunch`, `npm run faults -- hunger`')).toEqual([
      'npm run bench knows no B77',
      'package.json has no script "lunch"',
      'npm run faults knows no hunger',
    ]);
  });

  it('of anything else proves nothing', () =>
    expect(flaws('`a word`, `describeLunch`')).toEqual(['this is neither a test nor a command', 'libs/ports has no suite describeLunch']));
});

/** Every page that people write or read, except for the changelog, which may name files that no longer exist. */
const pages = ['README.md', ...['docs', 'examples', 'tests', 'deploy'].flatMap((folder) => filesUnder(folder))].filter(
  (path) => path.endsWith('.md') && !path.includes('node_modules'),
);

/** Names on a page that do not exist: files and folders of the workspace, scripts of package.json, and pages that it links to. */
function missingFrom(path, page) {
  const { scripts } = JSON.parse(text('package.json'));
  const named = [...page.matchAll(/`((?:libs|apps|tests|tools|deploy|bench|eval|examples|docs)\/[\w./-]*\w)`/g)]
    .map(([, name]) => name)
    .filter((name) => !existsSync(join(workspaceRoot, name)));
  const run = [...page.matchAll(/npm run (?:-s |--silent )?([\w:]+)/g)]
    .map(([, script]) => script)
    .filter((script) => !(script in scripts));
  const linked = [...page.matchAll(/\]\((?![a-z]+:)([^)#\s]+)(?:#[^)\s]+)?\)/g)]
    .map(([, target]) => target)
    .filter((target) => !existsSync(join(workspaceRoot, dirname(path), target)));
  return [...named, ...run.map((script) => `npm run ${script}`), ...linked];
}

describe('a page', () => {
  it('names only existing files, scripts and pages', () => {
    expect(pages.length).toBeGreaterThan(100);
    const missing = pages.flatMap((path) => missingFrom(path, text(path)).map((name) => `${path}: ${name}`));
    expect(missing).toEqual([]);
  });

  it('is reported for a file, a script and a link that do not exist', () => {
    const page =
      'Runs `libs/nowhere/src` with `npm run lunch`, see [there](nowhere.md#at-all), `libs/loop`, `npm run -s docs` and [here](glossary.md).';
    expect(missingFrom('docs/page.md', page)).toEqual(['libs/nowhere/src', 'npm run lunch', 'nowhere.md']);
  });
});
