import preset from '../../jest.preset.mjs';

// Each file starts whole engines and real processes: one at a time, and with time for a cold start.
export default { ...preset, maxWorkers: 1, testTimeout: 60_000 };
