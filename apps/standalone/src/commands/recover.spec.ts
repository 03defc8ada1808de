import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openSqlite, type Sqlite } from '@conclave/adapter-sqlite';
import { claimStores, loadConfiguration } from '@conclave/platform';
import { recoveriesOf } from '@conclave/ports';
import { expertPrompts } from '@conclave/strategies';
import { lostRequest } from '@conclave/replay';
import { exitCodes } from './ask.js';
import { recoverCommand } from './recover.js';

const runId = 'run_00000001';
const mark = { storeId: 'store', generation: 3 };
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'conclave-recover-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Opens the stopped data folder for `act`. */
async function folder<T>(act: (sqlite: Sqlite) => Promise<T>): Promise<T> {
  const sqlite = openSqlite({ home, processId: 'test', durability: 'process', prunes: false });
  try {
    return await act(sqlite);
  } finally {
    await sqlite.close();
  }
}
/** A data folder whose log contains a run and whose state tables are empty. */
const emptied = () =>
  folder(async ({ log }) => {
    await log.publish([lostRequest(runId, Date.now())]);
    await log.identity.write(mark);
  });
async function recover({ force = false, signal = new AbortController().signal } = {}) {
  let [said, told] = ['', ''];
  const code = await recoverCommand({
    loaded: loadConfiguration({ CONCLAVE_HOME: home, PORT: '9' }, home, { categories: Object.keys(expertPrompts) }),
    force,
    signal,
    out: { write: (text: string) => void (said += text) },
    terminal: { write: (text: string) => void (told += text) },
    leaseMs: 0,
  });
  return { code, said, told };
}

describe('recover', () => {
  it('has nothing to do when nothing was recorded and no store was used', async () => {
    expect(await recover()).toMatchObject({ code: exitCodes.answered, said: expect.stringContaining('nothing is recorded') });
    await folder(async () => undefined);
    expect(await recover()).toMatchObject({ code: exitCodes.answered, said: expect.stringContaining('nothing to recover') });
  });

  it('rebuilds a state whose tables were emptied, reports that, and makes the store usable again', async () => {
    await emptied();
    await folder(({ log, state }) => expect(claimStores(log, state)).rejects.toMatchObject({ code: 'STORE_REPLACED' }));
    const { code, said } = await recover();
    expect(code).toBe(exitCodes.answered);
    expect(said).toContain('1 open run (1 accepted and not started)');
    await folder(async ({ log, state }) => {
      expect((await state.runs.unpublished(0, 5)).map((header) => header.runId)).toEqual([runId]);
      const claimed = await claimStores(log, state);
      expect(claimed.storeId).toBe('store');
      expect(recoveriesOf(claimed)).toBe(1);
    });
  });

  it('changes nothing when the store matches the log, unless forced', async () => {
    await emptied();
    await recover();
    expect(await recover()).toMatchObject({ code: exitCodes.answered, said: expect.stringContaining('fits the log') });
    expect(await recover({ force: true })).toMatchObject({ said: expect.stringContaining('1 open run') });
    expect(recoveriesOf((await folder(({ log }) => log.identity.read()))!)).toBe(2);
  });

  it('refuses a store of another log, unless forced', async () => {
    await emptied();
    await folder(({ state }) => state.identity.start('foreign'));
    expect(await recover()).toMatchObject({ code: exitCodes.failed, told: expect.stringContaining('belongs to another log') });
    expect(await folder(({ state }) => state.identity.read())).toMatchObject({ storeId: 'foreign' });
    expect(await recover({ force: true })).toMatchObject({ code: exitCodes.answered });
  });

  it('leaves the store refused when it is interrupted, and can be run again', async () => {
    await emptied();
    expect(await recover({ signal: AbortSignal.abort() })).toMatchObject({
      code: exitCodes.cancelled,
      told: expect.stringContaining('stays red'),
    });
    await folder(({ log, state }) => expect(claimStores(log, state)).rejects.toMatchObject({ code: 'STORE_REPLACED' }));
    expect(await recover()).toMatchObject({ code: exitCodes.answered });
  });
});
