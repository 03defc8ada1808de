import { readFileSync } from 'node:fs';
import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import boundaries from 'eslint-plugin-boundaries';
import typescript from 'typescript-eslint';
import { forSpecs, layers, packages } from './layers.mjs';
import { projects, workspaceRoot } from './tools/workspace.mjs';

const specs = ['**/*.spec.ts', '**/*.contract.ts', '**/suites.ts', '**/__fixtures__/**'];
const workspace = projects();
const foldersOf = (...wanted) => workspace.filter(({ layer }) => wanted.includes(layer)).map(({ folder }) => `${folder}/src/**/*.ts`);

/** Arrows between layers. */
export const layerRules = {
  files: ['**/src/**/*.{ts,tsx}'],
  plugins: { boundaries },
  settings: {
    'boundaries/elements': workspace.map(({ folder, layer, name }) => ({ type: layer, pattern: folder, partialMatch: false, name })),
    'boundaries/files': [{ category: 'spec', pattern: specs }],
    // Otherwise the plugin takes the current folder as the root.
    'boundaries/root-path': workspaceRoot,
    'import/resolver': {
      typescript: {
        project: `${workspaceRoot}/tsconfig.json`,
        noWarnOnMultipleProjects: true,
      },
    },
  },
  rules: {
    'boundaries/no-unknown-files': 'error',
    'boundaries/no-unknown-dependencies': 'error',
    'boundaries/dependencies': [
      'error',
      {
        default: 'disallow',
        message: 'A file of layer "{{from.element.type}}" may not import layer "{{to.element.type}}": see layers.mjs.',
        policies: [
          ...Object.entries(layers).map(([from, to]) => ({
            from: { element: { type: from } },
            allow: { to: { element: { types: { anyOf: to } } } },
          })),
          { from: { file: { categories: 'spec' } }, allow: { to: { element: { types: { anyOf: forSpecs.layers } } } } },
        ],
      },
    ],
  },
};

const escaped = (name) => name.replaceAll('.', '\\.').replace(/\*$/, '.*');
const importsOnly = (layer, allowed, message) => ({
  paths: [],
  patterns: [
    { regex: `^(?!\\.{1,2}/|@conclave/${allowed.map((name) => `|${escaped(name)}(/|$)`).join('')})`, message },
    wayIntoAnotherProject,
  ],
});
const wayIntoAnotherProject = { regex: '^\\..*/src/', message: 'Import another project by its package name.' };

/** The export named `z` contains the whole package, with the messages of every language, which every start would compile. */
const wholeZod = { selector: 'ImportDeclaration[source.value="zod"] ImportSpecifier', message: "Write `import * as z from 'zod'`." };

/** npm packages and Node modules that a layer may import. */
const packageRules = Object.entries(packages).flatMap(([layer, allowed]) => {
  const message = `Layer "${layer}" may import only ${['workspace packages', ...allowed].join(', ')}: see layers.mjs.`;
  const files = foldersOf(layer);
  return [
    { files, ignores: specs, rules: { 'no-restricted-imports': ['error', importsOnly(layer, allowed, message)] } },
    {
      files: files.map((glob) => glob.replace('*.ts', '*.spec.ts')),
      rules: { 'no-restricted-imports': ['error', importsOnly(layer, [...allowed, ...forSpecs.packages], message)] },
    },
  ];
});

/**
 * For TypeScript files. If several blocks set this rule, only the last one applies to a file, so each begins with the restrictions for all files.
 */
const restrictedSyntax = (...more) => ({
  'no-restricted-syntax': [
    'error',
    { selector: 'PrivateIdentifier', message: 'A private member is `private`, not `#`.' },
    {
      selector: 'AssignmentExpression[operator!="="][right.type="AwaitExpression"]',
      message: 'The left side is read before the wait, so a change during it is lost: await first, then add.',
    },
    wholeZod,
    ...more,
  ],
});

const impure = 'The same input must lead to the same decision: time, chance and the outside world arrive in an event.';
const forbiddenGlobals = [
  'process',
  'performance',
  'crypto',
  'fetch',
  'console',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'require',
  'globalThis',
];

/** The reading of questions, the loop and the strategies only compute; they never use a clock, a random number or the outside world. */
const purity = {
  files: foldersOf('questions', 'loop', 'strategies'),
  ignores: specs,
  rules: {
    'no-restricted-globals': ['error', ...forbiddenGlobals.map((name) => ({ name, message: impure }))],
    'no-restricted-properties': [
      'error',
      { object: 'Date', property: 'now', message: impure },
      { object: 'Math', property: 'random', message: impure },
    ],
    ...restrictedSyntax(
      { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: impure },
      { selector: 'CallExpression[callee.name="Date"]', message: impure },
      { selector: 'ImportExpression', message: 'Imports of a pure layer are static, so that lint can see them.' },
      { selector: 'AwaitExpression', message: 'A pure layer waits for nothing.' },
    ),
  },
};

/** The app reads a configuration once and passes it on as a value. */
const configuration = {
  files: foldersOf('ports', 'calls', 'services', 'adapters', 'host', 'replay'),
  ignores: specs,
  rules: {
    'no-restricted-properties': [
      'error',
      { object: 'process', property: 'env', message: 'Only an app reads the environment; take a value.' },
    ],
  },
};

/** A lazy import of a package in the older format has only its default in a bundle, but all its names in Jest and Node. */
const lazyPackages = {
  files: foldersOf('ports', 'platform', 'calls', 'services', 'adapters', 'host', 'replay', 'apps'),
  ignores: specs,
  rules: restrictedSyntax({
    selector: 'ImportExpression[source.value=/^(?!@conclave|node:|[.])/]',
    message: 'Import a package statically, in a separate file that is imported lazily.',
  }),
};

const focused = ['only', 'skip', 'todo', 'failing'].flatMap((property) =>
  ['it', 'test', 'describe'].map((object) => ({ object, property, message: 'Every test runs, or is deleted.' })),
);

/** A test that waits for a process without a limit can block the whole run: Jest's own time-outs cannot end a synchronous wait. */
const boundedWaits = ['ts', 'mjs'].map((ending) => {
  const rule = {
    selector: 'CallExpression[callee.name=/^(spawnSync|execFileSync|execSync)$/]:not(:has(Property[key.name="timeout"]))',
    message: 'A test waits for a process with a `timeout`.',
  };
  return {
    files: ['**/*.spec', '**/*.contract', '**/__fixtures__/**/*', 'tests/*/src/**/*'].map((glob) => `${glob}.${ending}`),
    rules: ending === 'ts' ? restrictedSyntax(rule) : { 'no-restricted-syntax': ['error', rule] },
  };
});

const testFiles = {
  files: ['**/*.spec.ts', '**/*.contract.ts', '**/*.spec.mjs'],
  rules: {
    'no-restricted-properties': ['error', ...focused],
    'no-restricted-globals': ['error', 'fit', 'xit', 'fdescribe', 'xdescribe', 'xtest'],
    'max-lines': 'off',
  },
};

/** Identifiers in the last column of the glossary. */
const forbiddenNames = readFileSync(`${workspaceRoot}/docs/glossary.md`, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .flatMap((line) => [...line.split('|')[3].matchAll(/`(\w+)`/g)].map(([, name]) => name));

export default defineConfig(
  { ignores: ['**/dist/**', '**/.results/**', '**/.nx/**', '**/.stack/**', '**/coverage/**', 'node_modules/**'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  eslint.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'URL',
          'fetch',
          'setImmediate',
          'structuredClone',
          'TextDecoder',
          'TextEncoder',
          'setTimeout',
          'clearTimeout',
          'setInterval',
          'clearInterval',
          'AbortController',
          'AbortSignal',
          'Buffer',
          'performance',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  { rules: { 'max-lines': ['error', 400], eqeqeq: 'error' } },
  { files: ['libs/**/*.ts', 'apps/**/*.{ts,tsx}'], rules: { 'id-denylist': ['error', ...forbiddenNames] } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [typescript.configs.recommended],
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      'no-restricted-imports': ['error', { patterns: [wayIntoAnotherProject] }],
      ...restrictedSyntax(),
    },
  },
  layerRules,
  ...packageRules,
  purity,
  configuration,
  lazyPackages,
  ...boundedWaits,
  testFiles,
);
