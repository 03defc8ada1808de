import { userInfo } from 'node:os';
import { DeadLetterList, DeadLetterSettled, DeadLetterView, Failure } from '@conclave/contracts';
import { logPlace, newProcessId, openLog } from '@conclave/host';
import { openLogger, terminalLines, type Loaded } from '@conclave/platform';
import { runFolding } from '@conclave/service-merger';
import { DeadLetters, type LetterDecision, type LetterFilter } from '@conclave/ports';
import type { GatewayClient } from './gateway-client.js';
import { findGateway } from './running-gateway.js';

/** Access to dead letters, through a gateway or on the log. */
export interface DeadAccess {
  /** Description of the source, for people. */
  readonly where: string;
  list(filter: LetterFilter, page: { readonly limit: number; readonly before?: string }): Promise<DeadLetterList>;
  show(id: string): Promise<DeadLetterView>;
  redrive(id: string, decision: LetterDecision & { readonly again: boolean }): Promise<DeadLetterSettled>;
  discard(id: string, decision: LetterDecision): Promise<DeadLetterSettled>;
  close(): Promise<void>;
}

/** Name of the user at the terminal, if known. */
function person(): string {
  try {
    return (
      userInfo()
        .username.replace(/[^\w.@-]/g, '_')
        .slice(0, 64) || 'unknown'
    );
  } catch {
    // A container may run under a user id without a name.
    return 'unknown';
  }
}

/** The deciding user, as recorded. */
export const decider = (): string => `local:${person()}`;

/**
 * Uses a running gateway, which owns the data folder; otherwise the log itself. Throws DATA_FOLDER_IN_USE, LOG_UNAVAILABLE, and
 * DEAD_LETTER_NOT_FOUND if there is no log yet.
 */
export async function openDeadAccess(loaded: Loaded, terminal: { write(text: string): unknown }): Promise<DeadAccess> {
  const client = await findGateway(loaded);
  if (client) return overHttp(client);
  const logger = openLogger({ level: loaded.environment.LOG_LEVEL, sinks: [terminalLines(terminal)], fields: {} });
  const opened = await openLog({ loaded, logger, processId: newProcessId('dead'), folding: runFolding });
  if (!opened) throw new Failure('DEAD_LETTER_NOT_FOUND', `Nothing is recorded in ${logPlace(loaded)}.`);
  const letters = new DeadLetters({ log: opened.log, topics: opened.topics, runOf: opened.runOf });
  return {
    where: opened.where,
    list: (filter, page) => letters.list(filter, page),
    show: (id) => letters.show(id),
    redrive: (id, decision) => letters.redrive(id, decision),
    discard: (id, decision) => letters.discard(id, decision),
    close: () => opened.close(),
  };
}

function overHttp(client: GatewayClient): DeadAccess {
  const base = '/v1/admin/dead-letters';
  const one = (id: string, verb = ''): string => `${base}/${encodeURIComponent(id)}${verb}`;
  return {
    where: `the gateway at ${client.url}`,
    async list({ all = false, ...filter }, { limit, before }) {
      const query = new URLSearchParams({ ...filter, all: String(all), limit: String(limit), ...(before ? { before } : {}) });
      return DeadLetterList.parse(await client.json('GET', `${base}?${query.toString()}`));
    },
    show: async (id) => DeadLetterView.parse(await client.json('GET', one(id))),
    redrive: async (id, { note, again }) =>
      DeadLetterSettled.parse(await client.json('POST', one(id, '/redrive'), { note: note ?? null, again })),
    discard: async (id, { note }) => DeadLetterSettled.parse(await client.json('POST', one(id, '/discard'), { note: note ?? null })),
    close: () => Promise.resolve(),
  };
}
