import { describe, expect, it } from '@jest/globals';
import type { EventLog, StateStore } from '@conclave/ports';
import { Failure } from '@conclave/contracts';
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
