import { start } from '@conclave/app-experts/start';
import { faultProbe } from './open-probe.js';

await start(faultProbe(process.env));
