/** How TypeScript becomes JavaScript, in tests. */
export const swcOptions = {
  jsc: {
    experimental: { keepImportAttributes: true },
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, useDefineForClassFields: true },
    target: 'es2022',
    keepClassNames: true,
  },
  module: { type: 'es6' },
  sourceMaps: true,
};
