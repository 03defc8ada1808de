import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { committeeServices, startServices } from '../committee/services.js';
import { shippedCallsPerRun } from '../committee/replies.js';
import { shippedTemplate } from '../committee/template.js';
import { nextRunId, RunStarter } from '../committee/run-starter.js';
import { hostRounds } from './measured-round.js';

const [home = '', template, collector = ''] = process.argv.slice(2);
const services = await startServices({ CONCLAVE_HOME: home, OTEL_EXPORTER_OTLP_ENDPOINT: collector }, home, 'standalone', committeeServices);
const starter = await (template === 'shipped'
  ? RunStarter.open(services.ports, shippedTemplate, shippedCallsPerRun)
  : RunStarter.open(services.ports));
// The store's connection is private; the shipped durability `process` sets synchronous to NORMAL there.
const synchronous = services.durability === 'process' ? 'NORMAL' : 'FULL';

hostRounds({
  facts: [
    `SQLite: journal_mode ${journalMode(join(home, 'conclave.db'))}, synchronous ${synchronous} (durability: ${services.durability})`,
  ],
  run: () => starter.run(nextRunId()),
  calls: () => services.models.calls(),
  close: async () => {
    await starter.close();
    await services.close();
  },
});

/** Byte 18 of an SQLite file is 2 in WAL mode (sqlite.org/fileformat2.html, section 1.3.3). */
function journalMode(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const header = Buffer.alloc(20);
    readSync(descriptor, header, 0, 20, 0);
    return header[18] === 2 ? 'wal' : 'not wal';
  } finally {
    closeSync(descriptor);
  }
}
