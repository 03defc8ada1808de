import { runProcess } from '@conclave/adapter-selection';
import { LearningModule, MergerModule } from '@conclave/service-merger';

await runProcess({
  service: 'merger',
  variables: process.env,
  cwd: process.cwd(),
  classes: () => ['judge'],
  also: { learning: () => LearningModule.register() },
  module: ({ configuration }) => MergerModule.register({ storePrompts: configuration.store_prompts }),
});
