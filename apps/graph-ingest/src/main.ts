import { runProcess } from '@conclave/adapter-selection';
import { GraphIngestModule } from '@conclave/service-graph-ingest';

await runProcess({
  service: 'graph-ingest',
  variables: process.env,
  cwd: process.cwd(),
  module: ({ configuration }) => GraphIngestModule.register({ storePrompts: configuration.store_prompts }),
});
