import { runProcess } from '@conclave/host';
import { ExpertsModule } from '@conclave/service-experts';

export async function start(): Promise<void> {
  await runProcess({
    service: 'experts',
    variables: process.env,
    cwd: process.cwd(),
    extend: async (extensions) => (await import('@conclave/extensions')).loadExtensions(extensions),
    classes: ({ environment }) => environment.WORKER_CLASSES ?? ['expert', 'evidence'],
    module: ({ configuration }) =>
      ExpertsModule.register({ storePrompts: configuration.store_prompts, readPages: configuration.search.read_pages }),
  });
}
