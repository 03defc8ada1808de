import preset from '../../../jest.preset.mjs';

// Its tests against a broker mostly wait for time-outs of groups.
export default { ...preset, maxWorkers: 3 };
