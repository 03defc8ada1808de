import { describe, expect, it } from '@jest/globals';
import type { RunView } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { allMetrics, ask, type System, readRun, runEnd, startRun, sumOf, user, type Wave } from '@conclave/test-support/system';
import { describeOnce } from '../harness/describe-once.js';
import { brokenBin, lastShelf, silentBin, type Warehouse } from '../harness/warehouse.js';
import { type Call, resultsIn, wave, WaveScript } from './wave-script.js';

const locate = (id: string, item: string): Call => [id, 'stock.locate', { item }];
const count = (id: string, bin: string, needs: readonly string[] = []): Call => [id, 'stock.count', { bin }, needs];
const reserve = (id: string, bin: string, pieces = 1): Call => [id, 'stock.reserve', { bin, pieces }];

/** Results by the ids of their calls. */
const statuses = (run: RunView): Readonly<Record<string, string>> =>
  Object.fromEntries(
    run.rounds.flatMap(({ tasks }) =>
      tasks.filter(({ capability }) => capability === 'mcp').map(({ id, status }): [string, string] => [id.split('/').at(-1)!, status]),
    ),
  );

/** The rules of the strategy `waves`, in a world of tools that has nothing in common with its worked example. */
export function waveScenarios(system: () => System, warehouse: () => Warehouse): void {
  const script = (question: string): WaveScript => new WaveScript(system(), question);
  const arrived = (part: string): number => warehouse().arrived.filter((call) => call.startsWith(part)).length;

  describe('a wave', () => {
    it('starts all its calls together: none is answered before the others have started', async () => {
      warehouse().countTogether(3);
      const s = script('How much is in three bins at once?')
        .wave(wave('continue', 'Counts', count('c1', 'bin-11'), count('c2', 'bin-12'), count('c3', 'bin-99')))
        .wave(wave('done', 'Has counted'))
        .answer(['4 and 9.']);
      const { run, waves } = await s.answered('stock');
      expect(waves.map(({ length }) => length)).toEqual([3]);
      // A failed call does not affect the others.
      expect(statuses(run)).toEqual({ c1: 'ok', c2: 'ok', c3: 'error' });
      expect([run.outcome, resultsIn(s.prompts[1]!)]).toEqual(['completed', expect.stringMatching(/c3[^]*BIN_UNKNOWN/)]);
    });

    it('has an error for a missing tool and for invalid arguments, and results for the rest', async () => {
      const s = script('What if a call is wrong?')
        .wave(
          wave(
            'continue',
            'Looks around',
            ['w1', 'stock.weigh', { item: 'anvil' }],
            ['w2', 'stock.locate', { weight: 9 }],
            locate('w3', 'bellows'),
          ),
        )
        .wave((prompt) => {
          expect(resultsIn(prompt)).toMatch(/w1[^]*stock\.weigh[^]*w2[^]*item[^]*w3[^]*bin-12/);
          return wave('done', 'Knows enough');
        })
        .answer(['In bin 12.']);
      const { run, answer } = await s.answered('stock');
      expect([run.outcome, answer, statuses(run)]).toMatchObject([
        'completed',
        expect.stringContaining('In bin 12.'),
        { w1: 'error', w2: 'error', w3: 'ok' },
      ]);
    });

    it('that fails is planned again with other arguments', async () => {
      const s = script('Where do the anvils lie?')
        .wave(wave('continue', 'Looks for anvils', locate('l1', 'anvils')))
        .wave((prompt) => {
          expect(resultsIn(prompt)).toMatch(/l1[^]*ITEM_UNKNOWN/);
          return wave('continue', 'Looks for one anvil', locate('l2', 'anvil'));
        })
        .wave((prompt) => wave('done', 'Counts them', count('c1', /bin-\d+/.exec(resultsIn(prompt))![0], ['l2'])))
        .answer(['4 anvils in bin 11.']);
      const { run, waves, planned } = await s.answered('stock');
      expect(waves).toEqual([['l1'], ['l2'], ['c1']]);
      expect([run.outcome, planned, s.unused(), statuses(run)]).toEqual(['completed', 3, [], { l1: 'error', l2: 'ok', c1: 'ok' }]);
    });

    it('calls a tool that may change something once, even when its answer was lost', async () => {
      const s = script('Can I have one of the broken bin?')
        .wave(wave('continue', 'Puts one aside', reserve('r1', brokenBin), reserve('r2', 'bin-12', 2)))
        .wave(wave('continue', 'Tries again', reserve('r3', brokenBin), reserve('r4', 'bin-12', 2)))
        .wave(wave('done', 'Gives up on the first'))
        .answer(['2 of bin 12 are put aside.']);
      const { run } = await s.answered('stock');
      expect([arrived(`reserve ${brokenBin}`), arrived('reserve bin-12')]).toEqual([1, 1]);
      expect(statuses(run)).toMatchObject({ r1: 'error', r2: 'ok' });
      expect(resultsIn(s.prompts[1]!)).toMatch(/r1[^]*may (already )?have run/);
    });

    it('may change something only through a template that names the tool', async () => {
      const before = warehouse().arrived.length;
      const s = script('Who may put pieces aside?')
        .wave(wave('continue', 'Puts two aside', reserve('r1', 'bin-11', 2)))
        .wave(wave('done', 'It may not'))
        .answer(['Nobody here.']);
      const { run } = await s.answered('hotel');
      expect([run.outcome, statuses(run)]).toEqual(['completed', { r1: 'error' }]);
      expect(warehouse().arrived.slice(before)).toEqual([]);
      expect([s.prompts[0]!.includes('stock.count('), s.prompts[0]!.includes('stock.reserve(')]).toEqual([true, false]);

      const named = script('And who else?').wave(wave('done', 'There is no need')).answer(['Those who may.']);
      await named.answered('stock');
      expect(named.prompts[0]).toContain('stock.reserve(');
    });

    it('calls it once even when the worker dies in the middle of the call', async () => {
      const s = script('Can I have one of the silent bin?')
        .wave(wave('continue', 'Puts one aside', reserve('r1', silentBin)))
        .wave(wave('done', 'Cannot say whether it was put aside'))
        .answer(['Ask the keeper whether one is put aside.']);
      const { id } = (await startRun(system().url(), { model: 'stock', input: s.question })).body;
      await until('the call', () => arrived(`reserve ${silentBin}`) === 1, { timeoutMs: 10_000 });
      await system().process('experts').kill();
      await system().process('experts').ready();
      const run = await runEnd(system().url(), id, 60_000);
      expect([run.outcome, statuses(run), arrived(`reserve ${silentBin}`)]).toEqual(['completed', { r1: 'error' }, 1]);
      expect(resultsIn(s.prompts[1]!)).toMatch(/r1[^]*may (already )?have run/);
    }, 90_000);
  });

  describeOnce('the planner', () => {
    it('is not asked again after five waves, and the run says that a limit was reached', async () => {
      const s = script('What is in all the bins there are?');
      const calls = [locate('c1', 'anvil'), locate('c2', 'bellows'), count('c3', 'bin-11'), count('c4', 'bin-12'), reserve('c5', 'bin-11')];
      for (const call of calls) s.wave(wave('continue', `Makes the call ${call[0]}`, call));
      const { run, waves, planned, answer } = await s.answer(['As far as was counted: 13.']).answered('stock');
      expect([waves.length, planned, s.calls('waves').length, s.calls().length]).toEqual([5, 5, 5, 6]);
      expect([run.outcome, answer]).toEqual(['limit_reached', expect.stringContaining('As far as was counted: 13.')]);
    });

    it.each<Wave['status']>(['continue', 'done'])('that says %s without a call has finished', async (status) => {
      const s = script(`What is there to count (${status})?`)
        .wave(wave('continue', 'Counts', count('c1', 'bin-12')))
        .wave(wave(status, 'Wants nothing more'))
        .answer(['9.']);
      const { run, waves, planned } = await s.answered('stock');
      expect([run.outcome, waves.length, planned, s.calls().length]).toEqual(['completed', 1, 2, 3]);
    });

    it.each<[string, Call, string]>([
      ['takes an id again', count('l1', 'bin-11'), 'l1'],
      ['needs a call of the same wave', count('c1', 'bin-11', ['c1']), 'c1'],
      ['needs a call that was never made', count('c1', 'bin-11', ['l9']), 'l9'],
    ])('that %s is returned with the fault, and requested again', async (what, wrong, named) => {
      const s = script(`How many anvils are there (it ${what})?`)
        .wave(wave('continue', 'Looks for the anvil', locate('l1', 'anvil')))
        .wave(wave('continue', 'Counts', wrong))
        .wave(wave('done', 'Counts as it should', count('c2', 'bin-11', ['l1'])))
        .answer(['4.']);
      const { run, waves, planned } = await s.answered('stock');
      expect([run.outcome, planned, s.unused()]).toEqual(['completed', 3, []]);
      expect(waves).toEqual([['l1'], ['c2']]);
      const [, before, after] = s.prompts;
      expect(after!.length).toBeGreaterThan(before!.length);
      expect(after!.slice(-1_500)).toContain(named);
    });

    it('whose reply is unusable three times ends the run with what is known', async () => {
      const again = wave('continue', 'Looks for it again', locate('l1', 'bellows'));
      const s = script('Where do anvils lie, asked by one who does not listen?')
        .wave(wave('continue', 'Looks for the anvil', locate('l1', 'anvil')))
        .wave(again, 3)
        .answer(['In bin 11.']);
      const { run, waves, answer } = await s.answered('stock');
      expect([run.outcome, waves, s.calls('waves').length, run.usage.total.calls]).toEqual(['stuck', [['l1']], 4, 5]);
      expect(answer).toContain('In bin 11.');
    });

    it('sees a long result cut, and each result once, however many waves ago it arrived', async () => {
      const s = script('What stands on all the shelves?')
        .wave(wave('continue', 'Lists them', ['l1', 'stock.list', {}], locate('l2', 'anvil')))
        .wave(wave('continue', 'Counts', count('c1', 'bin-11', ['l2'])))
        .wave(wave('done', 'Has seen it'))
        .answer(['Dust.']);
      await s.answered('stock');
      const results = s.prompts.map(resultsIn);
      expect(results[0]).toBe('');
      for (const known of results.slice(1)) {
        expect(known.split('the shelf at the door')).toHaveLength(2);
        expect(known).not.toContain(lastShelf);
        expect(known.length).toBeLessThan(20_000);
      }
    });

    it('reads its reply between fences and next to thinking', async () => {
      const plan = wave('done', 'Looks for the bellows', locate('l1', 'bellows'));
      const s = script('Where do the bellows lie?')
        .wave({ text: `<think>{"status": "continue"}? No.</think>\n\`\`\`json\n${JSON.stringify(plan, null, 2)}\n\`\`\`` })
        .answer(['In bin 12.']);
      const { run, waves, planned } = await s.answered('stock');
      expect([run.outcome, waves, planned]).toEqual(['completed', [['l1']], 1]);
    });
  });

  describeOnce('the answer', () => {
    it('lists what was found when the composer fails, whatever the planner said that it was doing', async () => {
      const s = script('How many bellows are there (no composer)?')
        .wave(wave('continue', 'Looks for the bellows', locate('l1', 'bellows')))
        .wave(wave('done', 'Counts the bellows', count('c1', 'bin-12', ['l1'])))
        .composer({ truncateAfter: [{ text: 'Half of' }], cleanly: true }, 2);
      const { status, body } = await ask(system().url(), { model: 'stock', messages: user(s.question) });
      const run = await readRun(system().url(), body.conclave!.run_id);
      expect([status, run.outcome, run.reasonCode]).toEqual([200, 'completed', 'composer_failed']);
      const { content } = body.choices[0]!.message;
      expect(content).toContain('- {"bin":"bin-12","pieces":9} [2]');
      expect(content).not.toContain('Counts the bellows');
      expect(s.calls('composer')).toHaveLength(2);
    });

    it('says in the run what was done in each wave and why, call by call', async () => {
      const s = script('Which bin has the most?')
        .wave(wave('continue', 'Looks for both', locate('l1', 'anvil'), locate('l2', 'bellows')))
        .wave(wave('done', 'Counts both', count('c1', 'bin-11', ['l1']), count('c2', 'bin-12', ['l2'])))
        .answer(['Bin 12.']);
      const { run } = await s.answered('stock');
      const said = run.rounds.map(({ plan, tasks }) => ({
        plan,
        calls: tasks.flatMap(({ id, call }) => (call ? [{ id: id.split('/').at(-1), ...call }] : [])),
      }));
      expect(said).toEqual([
        {
          plan: expect.objectContaining({ status: 'continue', action: 'Looks for both', reasoning: 'So it is: Looks for both' }),
          calls: [
            { id: 'l1', tool: 'stock.locate', args: { item: 'anvil' }, result: '{"item":"anvil","bin":"bin-11"}' },
            { id: 'l2', tool: 'stock.locate', args: { item: 'bellows' }, result: '{"item":"bellows","bin":"bin-12"}' },
          ],
        },
        {
          plan: expect.objectContaining({ status: 'done', action: 'Counts both', reasoning: 'So it is: Counts both' }),
          calls: [
            { id: 'c1', tool: 'stock.count', args: { bin: 'bin-11' }, result: '{"bin":"bin-11","pieces":4}' },
            { id: 'c2', tool: 'stock.count', args: { bin: 'bin-12' }, result: '{"bin":"bin-12","pieces":9}' },
          ],
        },
      ]);
    });
  });

  describe('a template that shares its requests with one of waves', () => {
    it('is answered by it, and its rounds are counted separately from those of the other arm', async () => {
      const s = script('What is in bin 11 (shared)?')
        .wave(wave('continue', 'Looks for the anvil', locate('l1', 'anvil')))
        .wave(wave('done', 'Counts', count('c1', 'bin-11', ['l1'])))
        .answer(['4 anvils.']);
      const { run } = await s.answered('shared');
      expect([run.template.id, run.template.strategy, run.outcome]).toEqual(['stock', 'waves', 'completed']);
      const arm = { template: 'shared', arm: 'stock' };
      await until('its rounds', async () => sumOf(await allMetrics(system()), 'conclave_run_rounds_sum', arm) === 2);
    });
  });
}
