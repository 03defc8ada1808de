import { start } from '@conclave/app-standalone/start';
import { faultProbe } from './open-probe.js';

process.setSourceMapsEnabled(true);
await start(faultProbe(process.env));
