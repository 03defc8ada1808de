import { quickStart } from '@conclave/platform/quick-start';

await quickStart(async () => (await import('./start.js')).start());
