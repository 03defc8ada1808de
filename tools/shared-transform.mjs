// Transforms TypeScript for Jest. Its cache keys do not depend on the project that asks: Jest's own do, and then every project transforms every
// library it imports once more.
import { createHash } from 'node:crypto';
import { version } from '@swc/core';
import swc from '@swc/jest';

export default {
  createTransformer(options) {
    const transformer = swc.createTransformer(options);
    const settings = JSON.stringify([version, process.version, options]);
    return {
      ...transformer,
      getCacheKey: (source, file, { instrument }) =>
        createHash('sha256')
          .update(JSON.stringify([settings, instrument, file, source]))
          .digest('hex')
          .slice(0, 32),
    };
  },
};
