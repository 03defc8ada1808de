import { Failure } from '@conclave/contracts';
import type { WebhookSender } from '@conclave/ports';
import { through } from './port-view.js';
import { sleepUnless } from './simulated-models.js';
import { never } from './storm.js';
import type { LivingProcess, ModelWorld } from './surroundings.js';

/** Webhook that every run of a client names. */
export const simulatedWebhook = 'ops';

/** Share of deliveries that are refused, at least: in every storm some are made again. */
const refuses = 0.2;

/** A receiver of webhooks outside, slow, which refuses now and then. It remembers what it received, whatever its caller hears. */
export function simulatedReceiver(process: LivingProcess, world: ModelWorld): WebhookSender {
  const { storm, observations } = process.world;
  return {
    check: () => undefined,
    post: ({ headers, signal }) =>
      through(process, 'webhooks.post', 'tools', [], async () => {
        await sleepUnless(world.random.between(5, 200), signal);
        if (process.dead) return never();
        if (signal.aborted) throw new Failure('CALL_CANCELLED');
        if (storm.chance(Math.max(refuses, storm.plan.modelFault))) throw new Failure('WEBHOOK_FAILED', 'It is simulated to refuse.');
        observations.told.add(headers['webhook-id']!);
      }),
  };
}
