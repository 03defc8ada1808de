import { start } from '@conclave/app-planner/start';
import { faultProbe } from './open-probe.js';

await start(faultProbe(process.env));
