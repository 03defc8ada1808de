import { runProcess } from '@conclave/host';
import type { OpenProbe } from '@conclave/platform';
import { PlannerModule } from '@conclave/service-planner';

/** Runs the service until a signal ends it. Only tests pass a probe. */
export async function start(openProbe?: OpenProbe): Promise<void> {
  await runProcess({
    service: 'planner',
    variables: process.env,
    cwd: process.cwd(),
    openProbe,
    extend: async (configuration) => (await import('@conclave/extensions')).loadExtensions(configuration),
    module: ({ configuration }) =>
      PlannerModule.register({ storePrompts: configuration.store_prompts, repetitionLimit: configuration.repetition_limit }),
  });
}
