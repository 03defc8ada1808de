import { runProcess } from '@conclave/adapter-selection';
import { MergerModule } from '@conclave/service-merger';

await runProcess({
  service: 'merger',
  variables: process.env,
  cwd: process.cwd(),
  classes: () => ['judge'],
  module: ({ configuration }) => MergerModule.register({ storePrompts: configuration.store_prompts }),
});
