/**
 * Which layer may import which, by the `layer:` tag of the project. Lint enforces it; `tools/boundaries.spec.mjs` proves
 * that lint does. A layer may always import itself only inside one project: two projects of a layer stay strangers.
 *
 *   contracts <- loop <- strategies <- services   questions <- strategies, services   contracts <- ports <- platform <- services        adapters -> ports
 *
 * A service cannot import an adapter, so no service knows what Kafka is; the loop cannot import a port, so no decision
 * waits for anything.
 */
const everything = [
  'contracts',
  'questions',
  'loop',
  'strategies',
  'ports',
  'platform',
  'calls',
  'services',
  'adapters',
  'host',
  'replay',
  'extensions',
  'apps',
  'test-support',
];

export const layers = {
  contracts: [],
  loop: ['contracts'],
  /** Reads a question without a model. Of the loop it takes which characters count as the same. */
  questions: ['contracts', 'loop'],
  strategies: ['contracts', 'questions', 'loop'],
  ports: ['contracts'],
  platform: ['contracts', 'ports'],
  /** How any service makes a journalled model call, and how an ask is performed. */
  calls: ['contracts', 'strategies', 'ports', 'platform'],
  services: ['contracts', 'questions', 'loop', 'strategies', 'ports', 'platform', 'calls'],
  adapters: ['contracts', 'ports', 'platform'],
  /** Opens ports by configuration and runs a process: the one room that knows which adapter is which. */
  host: ['contracts', 'ports', 'platform', 'adapters'],
  /** Drives recorded runs with the code of the services, and rebuilds a store from the log; it takes ports as anybody else does. */
  replay: ['contracts', 'loop', 'strategies', 'ports', 'platform', 'calls', 'services'],
  /** The deterministic tools and their server: a program of its own, stranger to everything else of the product. */
  'precision-tools': [],
  /** Runs in a browser and knows the product by its HTTP API alone; the shapes of that are the contracts. */
  console: ['contracts'],
  /** Loads strategies and capabilities that are not in the repository, and gives them what they need. */
  extensions: ['contracts', 'loop', 'strategies'],
  apps: everything,
  /** Also starts the real servers. */
  'test-support': [...everything, 'deploy'],
  tests: everything,
  bench: everything,
  deploy: everything,
};

/** npm packages a layer may import; a layer that is not named here may import any. Node's own modules count as packages. */
export const packages = {
  contracts: ['zod'],
  questions: [],
  loop: [],
  strategies: ['zod'],
};

/** What the specs of every layer may import besides. */
export const forSpecs = { layers: ['test-support'], packages: ['@jest/globals', 'fast-check', 'node:*'] };
