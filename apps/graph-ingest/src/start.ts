import { runProcess } from '@conclave/host';
import { GraphIngestModule } from '@conclave/service-graph-ingest';

export async function start(): Promise<void> {
  await runProcess({
    service: 'graph-ingest',
    variables: process.env,
    cwd: process.cwd(),
    module: ({ configuration }) => GraphIngestModule.register({ storePrompts: configuration.store_prompts }),
  });
}
