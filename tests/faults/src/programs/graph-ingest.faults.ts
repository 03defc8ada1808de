import { start } from '@conclave/app-graph-ingest/start';
import { faultProbe } from './open-probe.js';

await start(faultProbe(process.env));
