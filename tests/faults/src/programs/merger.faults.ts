import { start } from '@conclave/app-merger/start';
import { faultProbe } from './open-probe.js';

await start(faultProbe(process.env));
