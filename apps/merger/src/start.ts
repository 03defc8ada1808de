import { runProcess } from '@conclave/host';
import { LearningModule, MergerModule } from '@conclave/service-merger';

export async function start(): Promise<void> {
  await runProcess({
    service: 'merger',
    variables: process.env,
    cwd: process.cwd(),
    extend: async (extensions) => (await import('@conclave/extensions')).loadExtensions(extensions),
    classes: () => ['judge'],
    also: { learning: () => LearningModule.register() },
    module: ({ configuration }) =>
      MergerModule.register({ storePrompts: configuration.store_prompts, parkMs: configuration.gateway.park_s * 1_000 }),
  });
}
