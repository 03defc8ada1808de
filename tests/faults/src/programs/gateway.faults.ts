import { start } from '@conclave/app-gateway/start';
import { faultProbe } from './open-probe.js';

await start(faultProbe(process.env));
