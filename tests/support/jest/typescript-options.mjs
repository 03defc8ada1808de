/** How a single TypeScript file is compiled to JavaScript in tests; the same options as in tsconfig.json for whole programs. */
export const typescriptOptions = {
  loader: 'ts',
  format: 'esm',
  target: 'node20.19',
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: true, verbatimModuleSyntax: true } },
};
