import { describe, expect, it } from '@jest/globals';
import { type EventLog, MemoryStores, parkedFlag, type StateStore } from '@conclave/ports';
import { acceptance } from '@conclave/ports/suites';
import { Failure } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import type { GatewayOptions } from '../options.js';
import { Commands } from './commands.js';

/** Commands over a store that fails the first `failures` times when it is told that a client disconnected. */
function commandsOver(failures: number) {
  const warned: unknown[] = [];
  let told = 0;
  const detach = (): Promise<number> => {
    told += 1;
    return told <= failures ? Promise.reject(new Failure('STORE_UNAVAILABLE')) : Promise.resolve(1);
  };
  const commands = new Commands(
    {
      logger: { warn: (_message: string, detail: { readonly triesAgain: boolean }) => void warned.push(detail.triesAgain) },
    } as unknown as GatewayOptions,
    { runs: { detach } } as unknown as StateStore,
    {} as EventLog,
  );
  return { commands, warned, told: () => told };
}

describe('a client that disconnects while the stores are unavailable', () => {
  it('is reported again until the stores have stored it', async () => {
    const { commands, warned, told } = commandsOver(2);
    await commands.release('run', 'client');
    expect([told(), warned]).toEqual([3, [true, true]]);
  });
});

describe('the last client of a run that leaves for good', () => {
  it('parks the run before it is cancelled, so that the death of the gateway in between only delays the cancel', async () => {
    const runId = 'run_left00000001';
    const { state } = new MemoryStores().connect('gateway');
    await state.runs.accept(acceptance(runId));
    await state.runs.attach(runId, 'client');
    // A process that dies here never gets an answer.
    state.runs.nextCommandSeq = () => new Promise(() => undefined);
    const commands = new Commands({} as GatewayOptions, state, {} as EventLog);
    void commands.leave(runId, 'client', { tenant: 'default', actor: 'key' }, 'none');
    await until('the parked run', async () => (await state.runs.park(0, 1)).overdue.includes(runId));
    expect(await state.runs.cancelled([runId, parkedFlag(runId)])).toEqual(new Set([parkedFlag(runId)]));
  });
});
