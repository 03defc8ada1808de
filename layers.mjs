/**
 * Which layer may import which, by the `layer:` tag of the project. Lint enforces it; `tools/boundaries.slow.spec.mjs` proves that lint does.
 * A layer may always import itself, but only inside one project: two projects of a layer do not import each other.
 *
 *   contracts <- loop <- strategies <- services   questions <- strategies, services   contracts <- ports <- platform <- services        adapters -> ports
 *
 * A service cannot import an adapter, so no service depends on Kafka; the loop cannot import a port, so no decision
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
  /** Reads a question without a model. Uses only the loop's rule for which characters count as the same. */
  questions: ['contracts', 'loop'],
  strategies: ['contracts', 'questions', 'loop'],
  ports: ['contracts'],
  platform: ['contracts', 'ports'],
  /** How any service makes a journalled model call, and how an ask is performed. */
  calls: ['contracts', 'strategies', 'ports', 'platform'],
  services: ['contracts', 'questions', 'loop', 'strategies', 'ports', 'platform', 'calls'],
  adapters: ['contracts', 'ports', 'platform'],
  /** Opens ports by configuration and runs a process: the only package that knows which adapter is which. */
  host: ['contracts', 'ports', 'platform', 'adapters'],
  /** Drives recorded runs with the code of the services, and rebuilds a store from the log; it uses ports like every other layer. */
  replay: ['contracts', 'loop', 'strategies', 'ports', 'platform', 'calls', 'services'],
  /** The deterministic tools and their server: a separate program, independent of everything else in the product. */
  'precision-tools': [],
  /** Runs in a browser and uses the product only through its HTTP API, whose shapes are in the contracts. */
  console: ['contracts'],
  /** Loads strategies and capabilities that are not in the repository, and passes them what they need. */
  extensions: ['contracts', 'loop', 'strategies'],
  apps: everything,
  /** Also starts the real servers. */
  'test-support': [...everything, 'deploy'],
  tests: everything,
  bench: everything,
  deploy: everything,
};

/** npm packages a layer may import; a layer that is not listed here may import any. Node's own modules count as packages. */
export const packages = {
  contracts: ['zod'],
  questions: [],
  loop: [],
  strategies: ['jsonrepair', 'yaml', 'zod'],
};

/** Layers and packages that the specs of every layer may import in addition. */
export const forSpecs = { layers: ['test-support'], packages: ['@jest/globals', 'fast-check', 'node:*'] };
