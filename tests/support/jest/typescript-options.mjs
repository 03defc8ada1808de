/** How a single file of TypeScript becomes JavaScript, in tests; as tsconfig.json says for whole programs. */
export const typescriptOptions = {
  loader: 'ts',
  format: 'esm',
  target: 'node20.19',
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: true, verbatimModuleSyntax: true } },
};
