// Every key of conclave.yaml and every variable is on the printed page and is read by code that acts on it. The compiler shows where a key
// is read: a property access counts only for the line of the schema that declares the property, not for another property of the same name.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import ts from 'typescript';
import { Configuration, Environment, shapeOf, type Shape } from '@conclave/contracts';
import { workspaceRoot } from '@conclave/test-support/system';

jest.setTimeout(240_000);

const schemaFolder = 'libs/contracts/src/configuration';
const schemas = [
  'aliases',
  'configuration',
  'environment',
  'key-limits',
  'policies',
  'providers',
  'reasoning',
  'stores',
  'templates',
  'webhooks',
].map((name) => `${schemaFolder}/${name}.ts`);

/** These compare settings, or only warn: reading a key here does not act on it. */
const onlyChecks: readonly string[] = [
  'libs/platform/src/configuration/references.ts',
  'libs/platform/src/catalogue/resolve-templates.ts ofTemplate',
];

/**
 * Values that are passed on whole: the keys declared in the first place are read as those of the second, which declares all of them again.
 * The settings of a template go into the resolved template that its runs carry.
 */
const handedOn: readonly { readonly from: string; readonly to: readonly [file: string, declaration: string] }[] = [
  { from: 'LimitSettings', to: ['libs/contracts/src/template.ts', 'RunLimits'] },
  { from: 'CacheSettings', to: ['libs/contracts/src/template.ts', 'Template'] },
  { from: 'TemplateSettings', to: ['libs/contracts/src/template.ts', 'Template'] },
  { from: 'oneOrMany', to: ['libs/platform/src/catalogue/resolve-templates.ts', 'role'] },
  { from: 'Price', to: ['libs/adapters/openai/src/configuration.ts', 'ModelPrice'] },
  { from: 'ProviderSettings', to: ['libs/host/src/open-models.ts', 'boundsOf'] },
  { from: 'RedisSettings', to: ['libs/adapters/redis/src/client.ts', 'Sentinels'] },
  { from: 'ModelSettings', to: ['libs/host/src/open-models.ts', 'boundsOf'] },
];
/** Templates are resolved field by field, so each field must be read again after that. */
const resolved = {
  from: 'TemplateSettings',
  by: 'libs/platform/src/catalogue/resolve-templates.ts',
  to: ['libs/contracts/src/template.ts', 'Template'],
} as const;

/** Announced on the printed page as without effect: they do nothing yet, and a start that finds them says so. */
const later: readonly string[] = [];
/** Keys and variables that are read by a computed name, with the place where that happens. */
const byName: Readonly<Record<string, string>> = {
  'environment.ts NEO4J_USER': 'libs/contracts/src/configuration/stores.ts',
  'environment.ts NEO4J_PASSWORD': 'libs/contracts/src/configuration/stores.ts',
  ...Object.fromEntries(
    ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].map((name) => [`environment.ts ${name}`, 'libs/adapters/openai/src/proxy.ts']),
  ),
  ...Object.fromEntries(['local', 'light', 'medium', 'heavy'].map((tier) => [`reasoning.ts ${tier}`, `${schemaFolder}/reasoning.ts`])),
  ...Object.fromEntries(
    ['planning', 'execution', 'evaluation', 'decision'].map((phase) => [`reasoning.ts ${phase}`, 'libs/strategies/src/prompts/shipped.ts']),
  ),
};
/** A variable of build machines that only the tools of this workspace read. */
const ofTools = ['environment.ts CI'];

/** Paths of all keys as a person writes them, with `<name>` for names that the user chooses. */
function paths(shape: Shape, at = ''): readonly string[] {
  const inner = Object.entries(shape.properties ?? {}).flatMap(([name, one]) => [`${at}${name}`, ...paths(one, `${at}${name}.`)]);
  const named = typeof shape.additionalProperties === 'object' ? paths(shape.additionalProperties, `${at}<name>.`) : [];
  return [...inner, ...named, ...(shape.anyOf ?? []).flatMap((one) => paths(one, at))];
}
const variables = paths(shapeOf(Environment));
const allPaths = [...new Set([...paths(shapeOf(Configuration)), ...variables])];

interface Key {
  readonly name: string;
  readonly file: string;
  /** The constant with the schema that contains it. */
  readonly of: string;
  readonly readers: Set<string>;
}

let keys: readonly Key[];
/** Reads of declarations to which values are passed on: `file declaration name`. */
const handedReads = new Set<string>();

/** Reads the whole program, which takes a while and is the same in both modes. */
function readProgram(): void {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(workspaceRoot, 'tsconfig.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
  )!;
  const files = config.fileNames.filter(
    (name) => /\/(libs|apps)\//.test(name) && !/\.(spec|contract)\.ts$|\/(__fixtures__|suites|testing)\//.test(name),
  );
  const program = ts.createProgram(files, config.options);
  // This also binds the files; before, no node knows its parent.
  const checker = program.getTypeChecker();
  const found = new Map(schemas.flatMap((file) => keysOf(program.getSourceFile(join(workspaceRoot, file))!, file)));
  const handed = new Map(
    [...handedOn.map(({ to }) => to), resolved.to].flatMap(([file, name]) =>
      declaredIn(program.getSourceFile(join(workspaceRoot, file))!, file, name),
    ),
  );
  keys = [...found.values()];
  const names = new Set(keys.map(({ name }) => name));
  for (const source of program.getSourceFiles()) {
    const file = source.fileName.slice(workspaceRoot.length + 1);
    if (source.isDeclarationFile || file.includes('node_modules') || file.startsWith(schemaFolder) || onlyChecks.includes(file)) continue;
    eachRead(source, names, (type, name, reader) => {
      if (onlyChecks.includes(`${file} ${reader}`)) return;
      for (const declaration of declarationsOf(checker, type(checker), name)) {
        found.get(declaration)?.readers.add(file);
        const handedTo = handed.get(declaration);
        // The place that resolves a template only copies it.
        if (handedTo && !(file === resolved.by && handedTo.startsWith(resolved.to.join(' ')))) handedReads.add(handedTo);
      }
    });
  }
}

/** Properties of every `z.strictObject({…})` of a file, and of constants that are spread into one. */
function keysOf(source: ts.SourceFile, path: string): [ts.Node, Key][] {
  const found: [ts.Node, Key][] = [];
  const visit = (node: ts.Node, constant: string): void => {
    const of = ts.isVariableDeclaration(node) ? node.name.getText() : constant;
    if (ts.isObjectLiteralExpression(node) && (/^z\.(strictObject|object)$/.test(calledOn(node)) || ts.isVariableDeclaration(node.parent)))
      for (const property of node.properties)
        if (ts.isPropertyAssignment(property))
          found.push([property, { name: property.name.getText(), file: path.split('/').at(-1)!, of, readers: new Set() }]);
    ts.forEachChild(node, (child) => visit(child, of));
  };
  visit(source, '');
  return found;
}
const calledOn = (node: ts.Node): string =>
  ts.isCallExpression(node.parent) ? node.parent.expression.getText().replaceAll(/\s/g, '') : '';

/** Properties declared anywhere inside a constant, interface or function of a file. */
function declaredIn(source: ts.SourceFile, file: string, declaration: string): [ts.Node, string][] {
  const found: [ts.Node, string][] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) || ts.isPropertySignature(node)) found.push([node, `${file} ${declaration} ${node.name.getText()}`]);
    ts.forEachChild(node, visit);
  };
  const named = (node: ts.Node): boolean =>
    (ts.isVariableDeclaration(node) || ts.isInterfaceDeclaration(node)) && node.name.getText() === declaration;
  const look = (node: ts.Node): void => (named(node) ? visit(node) : ts.forEachChild(node, look));
  look(source);
  if (found.length === 0) throw new Error(`${file} declares nothing in ${declaration}.`);
  return found;
}

/** Calls back for each access to a property with one of these names: `x.name`, `x['name']`, `{ name } = x`. */
function eachRead(
  source: ts.SourceFile,
  names: ReadonlySet<string>,
  read: (type: (checker: ts.TypeChecker) => ts.Type, name: string, reader: string) => void,
): void {
  const visit = (node: ts.Node, reader: string): void => {
    const within = ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node) ? (node.name?.getText() ?? reader) : reader;
    if (ts.isPropertyAccessExpression(node) && names.has(node.name.text))
      read((checker) => checker.getTypeAtLocation(node.expression), node.name.text, within);
    else if (ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression) && names.has(node.argumentExpression.text))
      read((checker) => checker.getTypeAtLocation(node.expression), node.argumentExpression.text, within);
    else if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
      const name = (node.propertyName ?? node.name).getText();
      if (names.has(name)) read((checker) => checker.getTypeAtLocation(node.parent), name, within);
    }
    ts.forEachChild(node, (child) => visit(child, within));
  };
  visit(source, '');
}

function declarationsOf(checker: ts.TypeChecker, type: ts.Type, name: string): readonly ts.Declaration[] {
  const whole = checker.getNonNullableType(type);
  const types = whole.isUnion() ? whole.types : [whole];
  return types.flatMap((one) => checker.getPropertyOfType(one, name)?.declarations ?? []);
}

const described = ({ file, name }: Key): string => `${file} ${name}`;
const isReadByName = (key: Key): boolean => {
  const place = byName[described(key)];
  return place !== undefined && readFileSync(join(workspaceRoot, place), 'utf8').includes(key.name);
};
const isHandedOn = ({ name, of }: Key): boolean =>
  handedOn.some(({ from, to: [file, declaration] }) => from === of && handedReads.has(`${file} ${declaration} ${name}`));

describe('a key of conclave.yaml', () => {
  it('is on the printed page', () => {
    const page = readFileSync(join(workspaceRoot, 'docs/generated/configuration.md'), 'utf8');
    expect(allPaths.length).toBeGreaterThan(150);
    expect(allPaths.filter((path) => !page.includes(`| \`${path}\` |`))).toEqual([]);
  });
});

describe('a key of conclave.yaml in the source', () => {
  beforeAll(readProgram);

  it('is found by the compiler as well as by the schema', () => {
    const written = new Set(allPaths.map((path) => path.split('.').at(-1)!).filter((name) => name !== '<name>'));
    expect(new Set(keys.map(({ name }) => name))).toEqual(written);
  });

  it('is read by something other than its check, except for those announced as later', () => {
    const unread = keys.filter((key) => key.readers.size === 0 && !isHandedOn(key) && !isReadByName(key)).map(described);
    expect([...new Set(unread)].sort()).toEqual([...later, ...ofTools].sort());
  });

  it('of a template is read again after templates are resolved', () => {
    const [file, declaration] = resolved.to;
    const ofTemplates = keys.filter((key) => key.of === resolved.from && !later.includes(described(key)));
    const dead = ofTemplates.filter(({ name }) => !handedReads.has(`${file} ${declaration} ${name}`)).map(described);
    expect(dead).toEqual([]);
  });
});
