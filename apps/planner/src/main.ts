import { runProcess } from '@conclave/adapter-selection';
import { PlannerModule } from '@conclave/service-planner';

await runProcess({
  service: 'planner',
  variables: process.env,
  cwd: process.cwd(),
  module: ({ configuration }) => PlannerModule.register({ storePrompts: configuration.store_prompts }),
});
