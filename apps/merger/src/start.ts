import { runProcess } from '@conclave/host';
import { forgetsAtEnd, type OpenProbe } from '@conclave/platform';
import { LearningModule } from '@conclave/service-learning';
import { MergerModule } from '@conclave/service-merger';
import { webhookService } from '@conclave/service-webhooks';

/** Runs the service until a signal ends it. Only tests pass a probe. */
export async function start(openProbe?: OpenProbe): Promise<void> {
  await runProcess({
    service: 'merger',
    variables: process.env,
    cwd: process.cwd(),
    openProbe,
    extend: async (configuration) => (await import('@conclave/extensions')).loadExtensions(configuration),
    classes: () => ['judge'],
    also: {
      learning: (loaded) => ({ module: LearningModule.register({ forgets: forgetsAtEnd(loaded) }) }),
      webhooks: (loaded) => webhookService(loaded, forgetsAtEnd(loaded)),
    },
    module: ({ configuration, environment }) =>
      MergerModule.register({
        storePrompts: configuration.store_prompts,
        repetitionLimit: configuration.repetition_limit,
        permitKey: environment.CONCLAVE_PERMIT_KEY,
        parkMs: configuration.gateway.park_s * 1_000,
      }),
  });
}
