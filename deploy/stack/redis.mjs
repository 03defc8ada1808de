import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { probeRedis } from './probes.mjs';
import { findOnPath } from './processes.mjs';
import { redisArguments, versions } from './versions.mjs';

const program = () => findOnPath('redis-server') ?? findOnPath('valkey-server');

/** One primary with an append-only file that is flushed before each acknowledgement. */
export const redis = {
  name: 'redis',
  title: `Redis ${versions.redis}`,
  portNames: ['redis'],
  readyWithinMs: 20_000,
  stopWithinMs: 10_000,
  missing: () => (program() ? null : { reason: 'no redis-server found', packages: ['redis-server'] }),
  install: async () => program(),

  async prepare({ folder }) {
    mkdirSync(path.join(folder, 'data'), { recursive: true });
  },

  command: ({ folder, ports, options, installed }) => ({
    file: installed,
    args: [
      '--port',
      String(ports.redis),
      '--bind',
      '127.0.0.1',
      '--dir',
      path.join(folder, 'data'),
      '--daemonize',
      'no',
      ...redisArguments,
      ...(options.arguments ?? []),
    ],
  }),
  stopped: () => undefined,

  probe: (ports) => probeRedis(ports.redis),
  address: (ports) => `redis://127.0.0.1:${ports.redis}`,
  environment: (ports) => ({ REDIS_URL: `redis://127.0.0.1:${ports.redis}` }),
};
