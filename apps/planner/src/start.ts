import { runProcess } from '@conclave/host';
import { PlannerModule } from '@conclave/service-planner';

export async function start(): Promise<void> {
  await runProcess({
    service: 'planner',
    variables: process.env,
    cwd: process.cwd(),
    extend: async (extensions) => (await import('@conclave/extensions')).loadExtensions(extensions),
    module: ({ configuration }) => PlannerModule.register({ storePrompts: configuration.store_prompts }),
  });
}
