import preset from '../jest.preset.mjs';

export default { ...preset, testMatch: ['<rootDir>/*.spec.mjs'], testTimeout: 60_000 };
