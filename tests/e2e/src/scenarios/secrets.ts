import { describe, expect, it } from '@jest/globals';
import { byAdmin, type System, keptText, runEvents } from '@conclave/test-support/system';
import { wave, WaveScript } from './wave-script.js';

/** Values that only the tool servers may see. `variables`: the names of the environment variables of the system that contain them. */
export function secretScenarios(system: () => System, variables: Readonly<Record<string, string>>): void {
  describe('the secrets of tool servers', () => {
    it('reach only their servers, and appear in no prompt, stream, log, view, metric or record', async () => {
      const [token] = Object.keys(variables) as [string];
      const stay = { check_in: '2026-12-04', check_out: '2026-12-05' };
      const s = new WaveScript(system(), 'Which rooms does the token open?')
        .wave(
          wave(
            'continue',
            `Asks with the token $${token}`,
            ['a1', 'pms.get_availability', stay],
            ['a2', 'pms.get_availability', { ...stay, check_in: `\${${token}}` }],
            ['a3', 'pms.get_availability', { ...stay, token: `$${token}` }],
            ['a4', 'stock.locate', { item: `$${token}` }],
          ),
        )
        .wave(wave('done', 'Has them'))
        .answer([`Those of $${token}.`]);
      const { chat, run } = await s.answered('hotel');
      const entries = await runEvents(system().url(), chat.runId);
      const metrics = await Promise.all(
        system()
          .metricUrls()
          .map(async (url) => (await fetch(`${url}/metrics`, { headers: byAdmin })).text()),
      );
      const seen: Readonly<Record<string, string>> = {
        prompts: JSON.stringify(system().models.calls),
        stream: JSON.stringify(chat.chunks),
        entries: JSON.stringify(entries),
        view: JSON.stringify(run),
        output: system().output(),
        history: JSON.stringify(system().history()),
        metrics: metrics.join('\n'),
        records: await keptText(system()),
      };
      // The inspected places contain the results, which would not exist without the token.
      for (const place of ['prompts', 'records']) expect([place, seen[place]!.includes('price_per_night')]).toEqual([place, true]);
      for (const [name, secret] of Object.entries(variables))
        for (const [place, text] of Object.entries(seen)) expect([name, place, text.includes(secret)]).toEqual([name, place, false]);
    });
  });
}
