import { runProcess } from '@conclave/host';
import { forgetsAtEnd, type OpenProbe } from '@conclave/platform';
import { GraphIngestModule } from '@conclave/service-graph-ingest';

/** Runs the service until a signal ends it. Only tests pass a probe. */
export async function start(openProbe?: OpenProbe): Promise<void> {
  await runProcess({
    service: 'graph-ingest',
    variables: process.env,
    cwd: process.cwd(),
    openProbe,
    module: (loaded) =>
      GraphIngestModule.register({
        storePrompts: loaded.configuration.store_prompts,
        repetitionLimit: loaded.configuration.repetition_limit,
        forgets: forgetsAtEnd(loaded),
      }),
  });
}
