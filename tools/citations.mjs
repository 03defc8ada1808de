// Reads the pages that cite tests and commands as proof (docs/status.md, docs/guarantees.md), and says which citations prove nothing because
// what they name is not there. Nothing is run.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { specFiles } from './results.mjs';
import { workspaceRoot } from './workspace.mjs';

const text = (path) => readFileSync(join(workspaceRoot, path), 'utf8');

/** The tables of a page, each with its rows as cells, and the lines that look like rows and belong to no table. */
export function tablesOf(page) {
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

/** What is cited in a cell, each as written between backticks; `e2e` before it and a scenario in brackets after it belong to it. */
export function citationsOf(cell) {
  return [...cell.matchAll(/(e2e )?`([^`]+)`(?: and `([^`]+)`)?(?: \(([a-z -]+)\))?/g)].flatMap(([, e2e, ...[first, second, scenario]]) =>
    [first, second].filter(Boolean).map((code) => ({ code, e2e: e2e !== undefined, scenario: e2e ? scenario : undefined })),
  );
}

/** Why a citation proves nothing, or undefined. */
export function flawOf({ code, e2e, scenario }) {
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

/** As jest.preset.mjs decides it: an argument with `.int` takes integration tests and no others. */
function flawOfJest(folder, patterns) {
  const level = patterns.some((pattern) => /\.int(\.|$)/.test(pattern)) ? 'int' : 'fast';
  const files = specFiles(folder, level).map((name) => (folder === 'tools' ? name : `src/${name}`));
  const idle = (patterns.length > 0 ? patterns : ['']).filter((pattern) => !files.some((name) => new RegExp(pattern).test(name)));
  return idle.length > 0 ? `no ${level} spec file of ${folder} matches ${idle.map((pattern) => `"${pattern}"`).join(', ')}` : undefined;
}

function flawOfEndToEnd(name, scenario) {
  const spec = `tests/e2e/src/${name}.e2e.spec.ts`;
  if (!existsSync(join(workspaceRoot, spec))) return `there is no ${spec}`;
  if (scenario === undefined) return undefined;
  const part = `scenarios/${scenario.replaceAll(' ', '-')}.js`;
  return text(spec).includes(part) ? undefined : `${spec} has no ${part}`;
}

const sourcesOf = (folder) =>
  readdirSync(join(workspaceRoot, folder), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => text(join(folder, name)));
const isSuite = (name) => sourcesOf('libs/ports/src').some((source) => source.includes(`function ${name}(`));
const hasId = (folder, id) => sourcesOf(folder).some((source) => source.includes(`id: '${id}'`));

/** For each script that takes names: whether there is that name. */
const named = {
  bench: (name) => hasId('bench/src', name),
  eval: (name) => hasId('eval/src', name),
  // The page is printed from the list of scenarios.
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
