import { Operator } from '../world/operator.js';
import { everyRun, pause, recoveryAfter } from './measure.js';
import type { Scenario } from './scenario.js';

/** Keys, limits and settings are changed while the process dies again and again. */
export const keysChanged: Scenario = {
  name: 'keys-changed',
  promise:
    'What an operator was told about keys, limits and settings holds, whatever dies next: an issued key works, a revoked or replaced one is refused, a limited key is limited, a setting is what was set last; and no run is lost.',
  fault:
    'kill -9 of the process, in turn right behind a confirmed change and in the middle of one, under load, while keys are issued, rotated and revoked and limits and templates are changed over HTTP; four times in the short form, else twenty-four times',
  modes: ['embedded'],
  controls: [{ without: 'stored-settings', check: 'own-promise' }],
  bounds: { accepted: 6, answered: 1 },
  limitS: 90,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp();
    const operator = new Operator(world);
    const process = world.system.process('gateway');
    world.behave({ delayMs: { planner: 100, expert: 300, composer: 150 } });
    const kills = world.short ? 4 : 24;
    const load = world.load.run({ runs: world.short ? 8 : 40, atOnce: 3, everyMs: 900, patienceMs: 90_000, name: 'changed' });
    let at = Date.now();
    for (let killed = 0; killed < kills; killed += 1) {
      // The number of changes between two kills grows and shrinks, so that each sort of change is the last one before a kill.
      for (let n = 0; n <= (killed * 5) % 4; n += 1) await operator.change();
      const last = operator.change();
      if (killed % 2 === 0) await last;
      else await pause((killed * 3) % 10);
      at = world.fault(`SIGKILL ${killed % 2 === 0 ? 'behind' : 'in'} a change`);
      await process.kill('SIGKILL');
      await last;
      await process.ready();
      await operator.look();
    }
    await load;
    world.behave({});
    if (operator.confirmed < 2 * kills) throw new Error(`Only ${operator.confirmed} changes were confirmed.`);
    world.row({
      name: `${kills} kills, ${operator.confirmed} changes`,
      outcome: 'survived',
      recoveryMs: recoveryAfter(world, at),
      runs: everyRun(world),
    });
  },
};
