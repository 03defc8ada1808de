import { start } from '@conclave/app-standalone/start';
import { faultProbe } from './open-probe.js';

await start(faultProbe(process.env));
