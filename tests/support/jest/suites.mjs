// The suites of `npm test`, in the order they run, and those of `npm run test:faults` and `npm run test:surface`.
import { join } from 'node:path';
import { jest } from './run.mjs';
import { ofClients, ofEmbedded, ofImageNode, specFiles } from './levels.mjs';
import { imageNode } from '../../../deploy/stack/image-node.mjs';
import { projects, workspaceRoot } from '../../../tools/workspace.mjs';

const nx = join(workspaceRoot, 'node_modules/nx/dist/bin/nx.js');
const anyOf = (...patterns) => new RegExp(patterns.map(({ source }) => source).join('|'));
/** Spec files that run at a time: several if they wait for processes and time-outs, or one of them is long; one if they count what a system does under load. */
const workers = {
  slow: ['--maxWorkers=2'],
  simulation: ['--maxWorkers=2'],
  'int:kafka': ['--maxWorkers=3'],
  'int:monitoring': ['--maxWorkers=1'],
};

/** A suite of Jest: one level of spec files, of the whole workspace or of one folder, except for those that `without` matches. */
function ofJest(name, title, level, { folder, without, ...rest }) {
  const outcome = `--outputFile=.results/${name.replace(':', '-')}.json`;
  const others = without ? [`^(?!.*(?:${without.source}))`] : [];
  const args = [jest, '--json', outcome, ...(folder ? ['--roots', folder] : []), ...(workers[name] ?? []), ...others];
  const files = specFiles([level.split('-')[0]], folder && [folder]).filter((path) => !without?.test(`/${path}`));
  return { name, title, level, args, files: files.length, ...rest };
}

const ofFolder = ({ folder, needs }) => {
  const name = `int:${folder.split('/').at(-1)}`;
  return ofJest(name, `Integration tests of ${folder}`, 'int', { folder, limit: 2_400, needs });
};

const integration = () =>
  projects()
    .map(ofFolder)
    .filter(({ files }) => files > 0);
/** `program`: the Node.js in which Jest and all programs that it starts run. */
function inImageNode() {
  const name = 'e2e-image-node';
  const args = [jest, '--json', `--outputFile=.results/${name}.json`, ofImageNode.source];
  const files = specFiles(['e2e']).filter((path) => ofImageNode.test(`/${path}`)).length;
  const title = "End-to-end tests in the image's Node.js";
  return { name, title, level: 'e2e-embedded', args, files, limit: 1_200, needs: ['image-node'], program: imageNode.program };
}

/** Suites of what people and their tools see from outside; `npm run test:surface` runs them, and CI does after `npm test`. */
const ofOutside = ['int:bench', 'int:deploy', 'int:eval', 'int:monitoring', 'int:open-webui'];

/** The kill matrix, the short form of other faults, and each protection switched off once; `jobs` systems at a time. */
const faults = (mode, jobs, needs) => {
  const args = ['dist/faults.js', '--ci', '--mode', mode, '--jobs', String(jobs)];
  return { name: `faults-${mode}`, title: `Faults, ${mode}`, args, limit: 2_400, alone: true, needs };
};
/** Built programs that are killed, frozen and cut off from their servers. */
export const faultSuites = () => [faults('embedded', 5), faults('distributed', 4, ['kafka', 'redis', 'neo4j', 'chroma', 'searx'])];

/**
 * `args` for Node, `limit` in seconds, `needs` (names of servers). A suite with `files` is counted by the JSON of Jest, with this number of
 * spec files; any other passes or fails as one. Several run at a time, except for those that are `alone`. Those with `computes` take the
 * processor time that the others leave, from the first suite on that is not `alone`.
 */
export const suites = () => [
  { name: 'fast', title: 'Fast tests', args: [nx, 'run', 'conclave:fast'], files: specFiles(['fast']).length, limit: 2_400, alone: true },
  { name: 'docs', title: 'Printed docs', args: ['tools/run.mjs', 'print-docs', '--check'], limit: 60 },
  ofJest('slow', 'Slow tests', 'slow', { limit: 3_000 }),
  { name: 'lint', title: 'Types and lint', args: [nx, 'run', 'conclave:lint'], limit: 3_000, computes: true },
  ofJest('simulation', 'Simulation', 'simulation', { limit: 3_000, computes: true }),
  ofJest('e2e-distributed', 'End-to-end tests, distributed', 'e2e-distributed', {
    limit: 2_400,
    needs: ['kafka', 'redis', 'neo4j', 'chroma'],
    without: anyOf(ofEmbedded, ...Object.values(ofClients)),
  }),
  ofJest('e2e-embedded', 'End-to-end tests, embedded', 'e2e-embedded', { limit: 2_400, without: anyOf(...Object.values(ofClients)) }),
  inImageNode(),
  ...integration().filter(({ name }) => !ofOutside.includes(name)),
];

/** Each kind of third-party client and server, and what it needs in addition to Node. */
const clients = {
  node: ['Third-party clients in Node', []],
  python: ['Third-party clients in Python', ['python-clients']],
  browser: ['Third-party clients in Chromium', ['chromium']],
  tools: ['Third-party tool servers', []],
};
/** The suite of one kind of third-party client or server in one mode. */
function ofSurface(kind, mode, servers = []) {
  const name = `clients-${kind}-${mode}`;
  const args = [jest, '--json', `--outputFile=.results/${name}.json`, ofClients[kind].source];
  const [title, needs] = clients[kind];
  const rest = { level: `e2e-${mode}`, args, files: 1, limit: 1_500, needs: [...needs, ...servers] };
  return { name, title: `${title}, ${mode}`, ...rest };
}

/** The web console in Chromium, served by the built program. */
const ofConsole = () => ofJest('console', 'Web console in Chromium', 'console', { limit: 1_500, needs: ['chromium'] });

/** Suites that run one at a time: browsers draw late on a busy machine, and Prometheus counts the load. */
const undisturbed = /^(?:clients-browser-|console$|int:monitoring$)/;

export const surfaceSuites = () =>
  [
    ...Object.keys(ofClients).map((kind) => ofSurface(kind, 'embedded')),
    ...Object.keys(ofClients).map((kind) => ofSurface(kind, 'distributed', ['kafka', 'redis', 'neo4j', 'chroma'])),
    ...integration().filter(({ name }) => ofOutside.includes(name)),
    ofConsole(),
  ]
    .map((suite) => ({ ...suite, alone: undisturbed.test(suite.name) }))
    .sort((a, b) => Number(a.alone) - Number(b.alone));
