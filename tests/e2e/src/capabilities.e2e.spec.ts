import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { TcpProxy } from '@conclave/test-support';
import { System, testedMode, plainTemplate, stackAddresses } from '@conclave/test-support/system';
import { searchServer, toolServer } from './harness/weak-servers.js';
import { capabilityScenarios, hostilePages, type WeakWorld } from './scenarios/capabilities.js';

// A system in which every optional part is unavailable at some time. All scenarios share this system and are distinguished by their
// questions.
let world: WeakWorld;
const weak = (): WeakWorld => world;

const lacking = {
  ...plainTemplate,
  strategy: 'single-pass',
  // Its parts become unavailable repeatedly, on purpose.
  policies: { '*': { breaker: { failures: 100 } } },
  capabilities: ['research', 'math', 'mcp', 'graph', 'collections'],
};

beforeAll(async () => {
  const [search, tools] = await Promise.all([searchServer(hostilePages), toolServer('weigh')]);
  const bolt = testedMode() === 'distributed' ? new URL(stackAddresses().NEO4J_URL) : null;
  // Without Neo4j, an address that never answers.
  const graph = await TcpProxy.open({ target: { host: '127.0.0.1', port: Number(bolt?.port ?? 9) } });
  const system = await System.start({
    ...(bolt ? { servers: { NEO4J_URL: `bolt://127.0.0.1:${graph.port}` } } : {}),
    configuration: {
      templates: {
        lacking: { ...lacking, task_timeout_s: 3 },
        // For what is slow on a busy machine, but not absent.
        'lacking-patient': lacking,
        remembers: {
          ...plainTemplate,
          strategy: 'single-pass',
          capabilities: [],
          caches: { answer: true, semantic: true, plan: true, search: true },
        },
      },
      search: { searxng: search.url, read_pages: 1, allow_hosts: ['127.0.0.1'] },
      math: { python: '/nowhere/python3' },
      mcp: { weak: { url: `${tools.url}/mcp`, may_write: true } },
      stores: { chroma: { url: 'http://127.0.0.1:9' }, ...(bolt ? {} : { neo4j: { url: `bolt://127.0.0.1:${graph.port}` } }) },
    },
    ...(bolt ? {} : { env: { NEO4J_USER: 'neo4j', NEO4J_PASSWORD: 'nothing' } }),
  });
  world = { system, search, tools, graph };
});
afterAll(async () => {
  await world?.system.stop();
  await Promise.all([world?.search.stop(), world?.tools.stop(), world?.graph.close()]);
});
let known = 0;
afterEach(() => {
  const violations = world?.system.models.violations().slice(known) ?? [];
  known += violations.length;
  if (violations.length > 0) throw new Error(`The models received calls that no step answers:\n${violations.join('\n')}`);
});

capabilityScenarios(weak);
