import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { classArchiveFlags, jarsOf, keepClassArchive, missingForJava } from './java.mjs';
import { probeNeo4j } from './probes.mjs';
import { run } from './processes.mjs';
import { neo4jPassword, neo4jUser } from './settings.mjs';
import { versions } from './versions.mjs';

/** Lines of conf/neo4j.conf. The server exits on a setting that its release does not know. */
export const serverSettings = ({ ports, settings = {} }) => ({
  'server.default_listen_address': '127.0.0.1',
  'server.bolt.enabled': 'true',
  'server.bolt.listen_address': `127.0.0.1:${ports.neo4j}`,
  'server.bolt.advertised_address': `127.0.0.1:${ports.neo4j}`,
  'server.http.enabled': 'false',
  'server.https.enabled': 'false',
  'dbms.security.auth_enabled': 'true',
  'dbms.usage_report.enabled': 'false',
  'server.memory.pagecache.size': '128m',
  // The next four shorten a stop from many seconds to about one.
  'internal.dbms.bolt.netty_server_shutdown_quiet_period': '0',
  'internal.dbms.bolt.netty_server_shutdown_timeout': '1s',
  'internal.server.bolt.thread_pool_shutdown_wait_time': '1s',
  'internal.server.bolt.connection_shutdown_wait_time': '1s',
  ...settings,
});

/** Neo4j Community from Maven's jars, Bolt only. */
export const neo4j = {
  name: 'neo4j',
  title: `Neo4j ${versions.neo4j}`,
  portNames: ['neo4j'],
  readyWithinMs: 120_000,
  stopWithinMs: 40_000,
  missing: () => missingForJava('neo4j', (major) => major === 17 || major === 21, 'Java 17 or 21'),
  install: () => jarsOf('neo4j'),

  async prepare({ folder, ports, options, installed }) {
    const configuration = path.join(folder, 'conf');
    mkdirSync(configuration, { recursive: true });
    const settings = serverSettings({ ports, ...options });
    writeFileSync(
      path.join(configuration, 'neo4j.conf'),
      Object.entries(settings)
        .map(([key, value]) => `${key}=${value}\n`)
        .join(''),
    );
    await run(
      'java',
      [
        '-Xmx128m',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        '-cp',
        path.join(installed, '*'),
        'org.neo4j.server.startup.Neo4jAdminCommand',
        'dbms',
        'set-initial-password',
        neo4jPassword,
      ],
      {
        env: { NEO4J_HOME: folder, NEO4J_CONF: configuration },
      },
    );
  },

  command: ({ folder, installed }) => ({
    file: 'java',
    args: [
      '-Xmx512m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      ...classArchiveFlags('neo4j', folder),
      '-cp',
      path.join(installed, '*'),
      'org.neo4j.server.CommunityEntryPoint',
      `--home-dir=${folder}`,
      `--config-dir=${path.join(folder, 'conf')}`,
      '--console-mode',
    ],
    cwd: folder,
  }),
  stopped: ({ folder }) => keepClassArchive('neo4j', folder),

  probe: (ports) => probeNeo4j(ports.neo4j),
  address: (ports) => `bolt://127.0.0.1:${ports.neo4j}`,
  environment: (ports) => ({ NEO4J_URL: `bolt://127.0.0.1:${ports.neo4j}`, NEO4J_USER: neo4jUser, NEO4J_PASSWORD: neo4jPassword }),
};
