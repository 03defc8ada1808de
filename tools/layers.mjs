/**
 * Which layer may import which, by the `layer:` tag of the project. Lint enforces it; `tools/boundaries.spec.mjs` proves
 * that lint does. A layer may always import itself only inside one project: two projects of a layer stay strangers.
 *
 *   contracts <- loop <- strategies <- services        contracts <- ports <- platform <- services        adapters -> ports
 *
 * A service cannot import an adapter, so no service knows what Kafka is; the loop cannot import a port, so no decision
 * waits for anything.
 */
const everything = [
  'precision',
  'contracts',
  'loop',
  'strategies',
  'ports',
  'platform',
  'calls',
  'services',
  'adapters',
  'selection',
  'apps',
  'test-support',
];

export const layers = {
  contracts: [],
  /** The deterministic tools: strangers to everything else of the product. */
  precision: [],
  loop: ['contracts'],
  strategies: ['contracts', 'loop'],
  ports: ['contracts'],
  platform: ['contracts', 'ports'],
  /** How any service makes a journalled model call. */
  calls: ['contracts', 'ports', 'platform'],
  services: ['contracts', 'loop', 'strategies', 'ports', 'platform', 'calls'],
  adapters: ['contracts', 'ports', 'platform'],
  /** Picks adapters from configuration, for apps. */
  selection: ['contracts', 'ports', 'platform', 'adapters'],
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
  loop: [],
  strategies: ['zod'],
};

/** What the specs of every layer may import besides. */
export const forSpecs = { layers: ['test-support'], packages: ['@jest/globals', 'fast-check', 'node:*'] };
