import { describe, expect, it } from '@jest/globals';
import type { RunAccepted, RunFactList } from '@conclave/contracts';
import {
  command,
  CommitteeScript,
  latch,
  research,
  runEnd,
  runEvents,
  startRun,
  type System,
  type TwoHops,
} from '@conclave/test-support/system';

/** A run that is continued from one of its steps: the same facts up to there, live from then on. */
export function forkScenarios(system: () => System, hops: TwoHops): void {
  const url = (): string => system().url();
  const facts = async (id: string): Promise<RunFactList['data']> =>
    ((await (await fetch(`${url()}/v1/runs/${id}/facts`)).json()) as RunFactList).data;
  const fork = async (id: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${url()}/v1/runs/${id}/forks`, init);
    return { status: response.status, body: (await response.json()) as RunAccepted };
  };
  const gap = `birthplace of ${hops.person}`;

  /** A run of two rounds, and the step in which it decided to plan the second one. */
  async function twoRounds(label: string) {
    const s = new CommitteeScript(system().models, `${hops.question} (fork, ${label})`)
      .plan([research('r1', `${hops.thing} founded`)])
      .gap(gap, gap)
      .plan([research('r2', `${hops.person} born`)], { iteration: 1 })
      .complete()
      .answer(['The first answer.']);
    const { body } = await startRun(url(), { model: 'conclave', input: s.question });
    const original = await runEnd(url(), body.id);
    const step = (await facts(original.id)).find(({ sentence }) => sentence.startsWith('By rule D9,'))!.step;
    return { s, original, step };
  }

  describe('a fork of a run', () => {
    it('shares the facts up to its step, then plans, looks up and answers live, independently of the original', async () => {
      const { s, original, step } = await twoRounds('whole');
      s.plan([research('r2', `${hops.person} town`)], { iteration: 1 })
        .complete()
        .answer(['The second answer.']);
      const before = s.calls().length;
      const accepted = await fork(original.id, { step, model: 'scripted@fake' });
      expect(accepted.status).toBe(202);
      const forked = await runEnd(url(), accepted.body.id);
      expect(forked).toMatchObject({ answer: 'The second answer.', outcome: 'completed', fork: { of: original.id, step } });
      // Plan, gap check and answer of the second round; the planner and the gap check of the first one were taken over.
      expect(s.calls().length - before).toBe(3);
      expect(forked.fork!.before.calls).toBe(2);
      expect(forked.usage.total.calls).toBe(5);
      expect((await runEnd(url(), original.id)).answer).toBe('The first answer.');

      const [theirs, own] = [await facts(original.id), await facts(forked.id)];
      const at = own.findIndex(({ kind }) => kind === 'RunForked');
      const shared = theirs.filter((fact) => fact.step <= step).map(({ sentence }) => sentence);
      // The plan that the original awaited is awaited again.
      expect(own.slice(0, at).map(({ sentence }) => sentence)).toEqual(shared.slice(0, -1));
      expect(own[at + 1]!.sentence).toBe(shared.at(-1));
      const entries = await runEvents(url(), forked.id);
      expect(entries.filter(({ kind }) => kind === 'run.forked')).toMatchObject([{ of: original.id, step }]);
    });

    it('can be cancelled, and forked again', async () => {
      const { s, original, step } = await twoRounds('cancelled');
      const never = latch();
      s.plan([research('r2', `${hops.person} town`)], { iteration: 1, when: never.opened });
      const first = await fork(original.id, { step });
      expect((await command(url(), first.body.id, { command: 'cancel' })).status).toBe(202);
      expect(await runEnd(url(), first.body.id)).toMatchObject({ outcome: 'cancelled', rule: 'D1' });
      never.open();
      s.plan([research('r2', `${hops.person} village`)], { iteration: 1 })
        .complete()
        .answer(['The third answer.']);
      const again = await fork(first.body.id, { step: 1 });
      expect(await runEnd(url(), again.body.id)).toMatchObject({ answer: 'The third answer.', fork: { of: first.body.id, step: 1 } });
    });
  });
}
