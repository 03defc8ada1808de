import { Failure } from '@conclave/contracts';
import type { WebhookSender } from '@conclave/ports';
import { through } from './port-view.js';
import { sleepUnless } from './simulated-models.js';
import { never } from './storm.js';
import type { LivingProcess, ModelWorld } from './surroundings.js';

/** The webhook that every run of a client names. */
export const simulatedWebhook = 'ops';

/** The minimum share of deliveries that are refused, so that every storm repeats some. */
const refuses = 0.2;

/** An outside receiver of webhooks that is slow and sometimes refuses. It remembers what it received, even if its caller gets no answer. */
export function simulatedReceiver(process: LivingProcess, world: ModelWorld): WebhookSender {
  const { storm, observations } = process.world;
  return {
    check: () => undefined,
    post: ({ headers, signal }) =>
      through(process, 'webhooks.post', 'tools', [], async () => {
        await sleepUnless(world.random.between(5, 200), signal);
        if (process.dead) return never();
        if (signal.aborted) throw new Failure('CALL_CANCELLED');
        if (storm.chance(Math.max(refuses, storm.plan.modelFault))) throw new Failure('WEBHOOK_FAILED', 'Simulated: the receiver refuses.');
        observations.told.add(headers['webhook-id']!);
      }),
  };
}
