import { expect, it } from '@jest/globals';
import { promptMarks as marks } from '@conclave/contracts';
import type { System } from '@conclave/test-support/system';
import { describeOnce } from '../harness/describe-once.js';
import { type Answered, resultsIn, wave, WaveScript } from './wave-script.js';

/** A day that a result contains, as a planner would use it. */
function dayIn(prompt: string, name: string): string {
  const day = new RegExp(`${name}\\W+(\\d{4}-\\d{2}-\\d{2})`).exec(resultsIn(prompt))?.[1];
  if (!day) throw new Error(`The planner is not told ${name}: ${prompt}`);
  return day;
}
const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
const times = (text: string, part: string): number => text.split(part).length - 1;

/** The three questions of the worked example in `examples/hotel`, with its own servers. */
export function hotelScenarios(system: () => System): void {
  const script = (question: string): WaveScript => new WaveScript(system(), question);
  /** Waves, planning calls and all model calls, as the model server and the run count them. */
  const counted = (s: WaveScript, { run, waves, planned }: Answered) => ({
    waves: waves.length,
    planned: [s.calls('waves').length, planned],
    calls: [s.calls().length, run.usage.total.calls],
    outcome: run.outcome,
    unused: s.unused(),
  });
  const holiday = ['h1', 'calendar.resolve_holiday', { holiday_name: 'Hanukkah' }] as const;

  describeOnce('the hotel', () => {
    it('A known fact is stated once, no matter how many waves ago it was found.', async () => {
      const s = script('I want one night in Hanukkah')
        .wave({ ...wave('continue', 'Looks up Hanukkah', holiday), slots: { nights: 1, holiday: 'Hanukkah' } })
        .wave((prompt) => {
          const check_in = dayIn(prompt, 'start_date');
          return wave('continue', 'Asks for rooms', ['a1', 'pms.get_availability', { check_in, check_out: dayAfter(check_in) }, ['h1']]);
        })
        .wave(wave('done', 'Has the rooms'))
        .answer(['On 4 December ', '5 standard rooms are free.']);
      const answered = await s.answered('hotel');
      expect(counted(s, answered)).toEqual({ waves: 2, planned: [3, 3], calls: [4, 4], outcome: 'completed', unused: [] });
      expect(answered.waves).toEqual([['h1'], ['a1']]);
      expect([answered.answer, answered.chat.pieces.length > 1]).toEqual([expect.stringContaining('5 standard rooms are free.'), true]);

      const [first, second, third] = s.prompts;
      expect(first).toContain('calendar.resolve_holiday(holiday_name: string (such as Hanukkah), year?: integer)');
      expect(first).not.toContain('RESULTS:');
      expect(resultsIn(second!)).toMatch(/h1[^]*2026-12-04[^]*2026-12-11/);
      // A known fact is stated once, no matter how many waves ago it was found.
      expect([times(third!, 'RESULTS:'), times(third!, '2026-12-11')]).toEqual([1, 1]);
      expect(resultsIn(third!)).toMatch(/a1[^]*2026-12-05[^]*standard/);
      expect(third).toContain('Looks up Hanukkah');
    });

    it('The days of the source, as the planners of the second and the third wave read them.', async () => {
      const s = script('I need availability for Hanukkah and also next weekend')
        .wave(wave('continue', 'Looks up both', holiday, ['d1', 'calendar.resolve_date_hint', { date_hint: 'next weekend' }]))
        .wave((prompt) => {
          const night = dayIn(prompt, 'start_date');
          const weekend = { check_in: dayIn(prompt, 'check_in'), check_out: dayIn(prompt, 'check_out') };
          return wave(
            'continue',
            'Asks for both',
            ['a1', 'pms.get_availability', { check_in: night, check_out: dayAfter(night) }, ['h1']],
            ['a2', 'pms.get_availability', weekend, ['d1']],
          );
        })
        .wave(wave('done', 'Has both'))
        .answer(['Both are free.']);
      const answered = await s.answered('hotel');
      expect(counted(s, answered)).toEqual({ waves: 2, planned: [3, 3], calls: [4, 4], outcome: 'completed', unused: [] });
      expect(answered.waves.map((ids) => [...ids].sort())).toEqual([
        ['d1', 'h1'],
        ['a1', 'a2'],
      ]);
      // The days of the source, as the planners of the second and the third wave read them.
      for (const day of ['2026-12-04', '2026-12-11', '2025-01-17', '2025-01-19']) expect(resultsIn(s.prompts[1]!)).toContain(day);
      expect(resultsIn(s.prompts[2]!)).toContain('2026-12-05');
    });

    it('"January 17-19": 1 wave, 2 planning calls', async () => {
      const s = script('Check availability for January 17-19')
        .wave(wave('continue', 'Asks for rooms', ['a1', 'pms.get_availability', { check_in: '2025-01-17', check_out: '2025-01-19' }]))
        .wave(wave('done', 'Has the rooms'))
        .answer(['2 standard rooms are free.']);
      const answered = await s.answered('hotel');
      expect(counted(s, answered)).toEqual({ waves: 1, planned: [2, 2], calls: [3, 3], outcome: 'completed', unused: [] });
    });

    it('A wave that is announced as the last one is run, and the planner is not asked for another.', async () => {
      const s = script('Is 6 December in Hanukkah?')
        .wave(wave('done', 'Looks it up', holiday))
        .answer(['It is.']);
      const answered = await s.answered('hotel');
      // A wave that is announced as the last one is run, and the planner is not asked for another.
      expect(counted(s, answered)).toEqual({ waves: 1, planned: [1, 1], calls: [2, 2], outcome: 'completed', unused: [] });
      const [planner] = s.calls('waves');
      expect(planner!.body['temperature']).toBe(0);
      expect(String(planner!.messages[0]!.content).startsWith(marks.roles.waves)).toBe(true);
      expect(JSON.stringify(s.calls('composer')[0]!.messages)).toContain('2026-12-11');
    });

    it('tells the planner what a tool refused, by the id of the call, and why', async () => {
      const s = script('Is there a room on the Festival of Kites?')
        .wave(wave('continue', 'Looks it up', ['h1', 'calendar.resolve_holiday', { holiday_name: 'Festival of Kites' }]))
        .wave((prompt) => {
          expect(resultsIn(prompt)).toMatch(/h1[^]*HOLIDAY_UNKNOWN[^]*Hanukkah/);
          return wave('done', 'Takes the nearest holiday', ['h2', 'calendar.resolve_holiday', { holiday_name: 'Hanukkah' }]);
        })
        .answer(['That festival is not known.']);
      const { run, waves } = await s.answered('hotel');
      expect(waves).toEqual([['h1'], ['h2']]);
      const statuses = run.rounds.flatMap(({ tasks }) =>
        tasks.filter(({ capability }) => capability === 'mcp').map(({ status }) => status),
      );
      expect([run.outcome, statuses]).toEqual(['completed', ['error', 'ok']]);
    });
  });
}
