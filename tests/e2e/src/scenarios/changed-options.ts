import { describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { byAdmin, latch, roleOf, runEnd, startRun, type System } from '@conclave/test-support/system';
import { scored, step } from './reasoning.js';

/** Milliseconds after which a change applies to every accepted run. */
const effectiveMs = 2_000;
/** Runs that are started one after the other, at this distance, until the change has been in effect for a while. */
const everyMs = 60;
const goesOnMs = effectiveMs + 1_500;

const versionIn = (text: string): string | null => /PLAN WITH (\w+)/.exec(text)?.[1] ?? null;

/** Options of a template that are changed while many runs begin and many are in flight. */
export function changedOptionsScenarios(system: () => System): void {
  const put = async (options: object): Promise<void> => {
    const response = await fetch(`${system().url()}/v1/admin/templates/talk`, {
      method: 'PUT',
      headers: { ...byAdmin, 'content-type': 'application/json' },
      body: JSON.stringify({ options }),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  };
  /** All four prompts contain their version; a plan of two steps uses each of them before and after the change. */
  const optionsOf = (version: string): object => ({
    prompts: {
      planning: `PLAN WITH ${version}. At most {max_steps} steps.`,
      execution: `PLAN WITH ${version}. Prepare.`,
      evaluation: `PLAN WITH ${version}. Score.`,
      decision: `PLAN WITH ${version}. Decide.`,
    },
  });

  describe('options changed under load', () => {
    it(`apply to every run that is accepted ${effectiveMs} ms later, and runs in flight keep theirs to the end`, async () => {
      const mark = 'Under load';
      const gate = latch();
      const replies: Readonly<Record<string, object | string>> = {
        reasoner: { steps: [step('research', 'find the founder'), step('research', 'find the year')] },
        rater: scored(4),
        composer: 'Ada Quill.',
      };
      const numberIn = (text: string): number => Number(new RegExp(`${mark} (\\d+)\\?`).exec(text)?.[1] ?? -1);
      /** Runs whose first step is held back until the change has been in effect. */
      const held = 5;
      system().models.add({
        name: mark,
        match: mark,
        times: Infinity,
        reply: (request) => {
          const role = roleOf(request);
          const text = JSON.stringify(request.messages);
          const first = !text.includes('RESULTS:');
          const input = `${first ? 'founder' : 'year of the founding'} of the Northlight Clock Company`;
          const said = role === 'preparer' ? { input } : replies[role];
          const waits = role === 'preparer' && first && numberIn(text) < held ? { when: gate.opened } : {};
          return { chunks: [{ text: typeof said === 'string' ? said : JSON.stringify(said ?? {}), ...waits }] };
        },
      });

      await put(optionsOf('ONE'));
      const runs: { readonly id: string; readonly askedAt: number }[] = [];
      const start = async (): Promise<void> => {
        const askedAt = performance.now();
        // If there are two gateways, one receives the change and both receive runs.
        const url = system().url((runs.length % 2) + 1);
        const { status, body } = await startRun(url, { model: 'talk', input: `${mark} ${runs.length}?`, conclave: { cache: false } });
        expect([status, body.error]).toEqual([202, undefined]);
        runs.push({ id: body.id, askedAt });
      };
      for (let n = 0; n < held; n += 1) await start();
      const calls = () => system().models.calls.filter(({ step: name }) => name === mark);
      const prepared = () => calls().filter((call) => roleOf(call) === 'preparer');
      await until('the runs in flight', () => prepared().length >= held, { timeoutMs: 20_000 });

      let changedAt = Infinity;
      const later = () => runs.flatMap(({ askedAt }, n) => (askedAt >= changedAt + effectiveMs ? [n] : []));
      const load = (async (): Promise<void> => {
        while (performance.now() < changedAt + goesOnMs || later().length <= 5) {
          await start();
          await new Promise((resolve) => setTimeout(resolve, everyMs));
        }
      })();
      await until('some load', () => runs.length >= held + 5, { timeoutMs: 20_000 });
      await put(optionsOf('TWO'));
      changedAt = performance.now();
      await load;
      gate.open();

      const views = await Promise.all(runs.map(({ id }) => runEnd(system().url(), id, 60_000)));
      expect(new Set(views.map(({ outcome }) => outcome))).toEqual(new Set(['completed']));
      const prompts = runs.map((_, n) =>
        calls()
          .filter(({ messages }) => numberIn(JSON.stringify(messages)) === n && roleOf({ messages }) !== 'composer')
          .map(({ messages }) => versionIn(JSON.stringify(messages))),
      );
      const versions = views.map(({ template }) => template.version);
      // No run has two versions, whenever its calls were made.
      prompts.forEach((seen, n) => expect([n, seen.length, new Set(seen).size]).toEqual([n, 5, 1]));
      for (let n = 0; n < held; n += 1) expect([n, prompts[n]![0], versions[n]]).toEqual([n, 'ONE', versions[0]]);
      const last = versions.at(-1)!;
      expect(last).not.toBe(versions[0]);
      expect(later().map((n) => [prompts[n]![0], versions[n]])).toEqual(later().map(() => ['TWO', last]));
      await put({ ask_user: 'always' });
    }, 120_000);
  });
}
