import { runProcess } from '@conclave/host';
import type { OpenProbe } from '@conclave/platform';
import { ExpertsModule } from '@conclave/service-experts';

/** Runs the service until a signal ends it. Only tests pass a probe. */
export async function start(openProbe?: OpenProbe): Promise<void> {
  await runProcess({
    service: 'experts',
    variables: process.env,
    cwd: process.cwd(),
    openProbe,
    extend: async (configuration) => (await import('@conclave/extensions')).loadExtensions(configuration),
    classes: ({ environment }) => environment.WORKER_CLASSES ?? ['expert', 'evidence'],
    module: ({ configuration, environment }) =>
      ExpertsModule.register({
        storePrompts: configuration.store_prompts,
        repetitionLimit: configuration.repetition_limit,
        permitKey: environment.CONCLAVE_PERMIT_KEY,
        readPages: configuration.search.read_pages,
      }),
  });
}
