import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { CommitteeScript, readRun, runEnd, startRun, type System } from '@conclave/test-support/system';
import type { Receiver } from '../harness/receiver.js';
import { scored, step } from './reasoning.js';

export const deliverySecret = { OPS_SECRET: 'canary-of-the-webhook-77c1' };

/** Results of runs that are sent to webhooks: `ops` takes them, `broken` fails, `silent` never answers. */
export function deliveryScenarios(system: () => System, receiver: () => Receiver): void {
  const run = async (question: string, model: string): Promise<string> => {
    new CommitteeScript(system().models, question)
      .phase('reasoner', { steps: [step('research', 'find the founder')] })
      .phase('preparer', { input: 'founder of the Northlight Clock Company' })
      .phase('rater', scored(5))
      .answer(['It was Ada Quill.']);
    return (await startRun(system().url(), { model, input: question })).body.id;
  };
  const deliveriesOf = (id: string) =>
    until('the deliveries', async () => (await readRun(system().url(), id)).deliveries, { timeoutMs: 30_000, everyMs: 100 });

  describe('the result of a run', () => {
    it('is sent to the webhook of its template once, signed, and its record says so', async () => {
      const question = 'Who founded it, for the people outside?';
      const id = await run(question, 'told');
      await runEnd(system().url(), id, 60_000);
      expect(await deliveriesOf(id)).toMatchObject([{ webhook: 'ops', status: 'delivered', attempts: 1, failure: null }]);
      const [sent, ...others] = receiver().about(question);
      expect([others, sent!.path]).toEqual([[], '/ops']);
      expect(JSON.parse(sent!.body)).toMatchObject({
        type: 'run.completed',
        data: { run: id, template: 'told', outcome: 'completed', answer: expect.stringContaining('It was Ada Quill.') },
      });
      const { 'webhook-id': webhookId, 'webhook-timestamp': at, 'webhook-signature': signature } = sent!.headers;
      const proof = createHmac('sha256', deliverySecret.OPS_SECRET).update(`${String(webhookId)}.${String(at)}.${sent!.body}`).digest('base64');
      expect([webhookId, signature]).toEqual([`${id}/completed/ops`, `v1,${proof}`]);
      expect(`${system().output()}${JSON.stringify(receiver().received)}`).not.toContain(deliverySecret.OPS_SECRET);
    });

    it('is there before any webhook has answered, and stays where one fails or is silent', async () => {
      const question = 'Who founded it, although nobody listens?';
      const id = await run(question, 'unheard');
      const view = await runEnd(system().url(), id, 60_000);
      expect([view.outcome, view.answer]).toEqual(['completed', expect.stringContaining('It was Ada Quill.')]);
      const failed = { status: 'failed', failure: { code: 'WEBHOOK_UNAVAILABLE' } };
      expect(await deliveriesOf(id)).toMatchObject([{ webhook: 'broken', ...failed }, { webhook: 'silent', ...failed }]);
      // Each attempt has the same id.
      expect(new Set(receiver().about(question).map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    });

    it('is kept to itself by a template that names no webhook', async () => {
      const question = 'Who founded it, between us?';
      const id = await run(question, 'goal');
      const view = await runEnd(system().url(), id, 60_000);
      expect([view.deliveries, receiver().about(question)]).toEqual([undefined, []]);
    });
  });
}
