// Every page that a user follows: its commands run unchanged, their output matches the page, and each conclave.yaml on it is valid.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { System, workspaceRoot } from '@conclave/test-support/system';
import { follow, missingLines, pageFolder, readPage, writeFiles, type Block, type Followed, type Page } from './harness/page.js';

const guides = readdirSync(join(workspaceRoot, 'docs/guides')).filter((name) => name.endsWith('.md'));
const pages = [
  'README.md',
  'docs/architecture.md',
  'docs/benchmarks.md',
  'docs/alternatives.md',
  ...guides.map((name) => `docs/guides/${name}`),
]
  .filter((path) => existsSync(join(workspaceRoot, path)))
  .map(readPage);
const linked = [
  ...pages.map(({ path }) => path),
  'docs/status.md',
  'docs/known-limits.md',
  'docs/guarantees.md',
  'examples/hotel/README.md',
  'examples/strategies/README.md',
];
// The pages describe what `npm start` starts. The README has its own test.
const toRun = pages.filter(({ path, blocks }) => path !== 'README.md' && blocks.some(({ directive }) => directive === 'run'));
const configurations = pages.flatMap((page) =>
  page.blocks
    .filter(({ language }) => language === 'yaml')
    .map((block): [string, Page, Block] => [`${page.path}:${block.line}`, page, block]),
);

describe('every conclave.yaml on a page', () => {
  it('is found', () => expect(configurations.length).toBeGreaterThan(2));

  it.each(configurations)('is valid: %s', (_name, page, block) => {
    const folder = pageFolder();
    writeFiles(page, folder);
    // Files, folders and variables that an example only mentions.
    for (const [, name] of block.code.matchAll(/(?:prompt|key_file): (\S+\.(?:md|txt|key))/g)) touch(join(folder, name!));
    for (const [name] of block.code.matchAll(/\.\/[\w-]+\.mjs/g)) touch(join(folder, name));
    for (const [, name] of block.code.matchAll(/(?:corpus|skills): (\S+?)[ ,}\n]/g)) mkdirSync(join(folder, name!), { recursive: true });
    const named = [...block.code.matchAll(/_env: (\w+)/g), ...block.code.matchAll(/env: \{ \w+: (\w+)/g)];
    const environment = {
      ...Object.fromEntries(named.map(([, name]) => [name!, `sk-example-of-${name!}`])),
      ...Object.fromEntries([...block.code.matchAll(/url_env: (\w+)/g)].map(([, name]) => [name!, 'https://example.org/'])),
      ...Object.fromEntries([...block.code.matchAll(/secret_env: (\w+)/g)].map(([, name]) => [name!, `whsec_${'MfKQ'.repeat(8)}`])),
    };
    writeFileSync(join(folder, 'conclave.yaml'), `${block.code}\n`);
    const categories = Object.keys(expertPrompts);
    expect(() => loadConfiguration({ ...environment, CONCLAVE_CONFIG: 'conclave.yaml' }, folder, { categories })).not.toThrow();
    rmSync(folder, { recursive: true });
  });
});

function touch(file: string): void {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'Text of an example.\n');
}

/** The anchor that GitHub gives to a heading of a page. */
const anchorsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('every link of a page', () => {
  it('leads to an existing target', () => {
    const broken = linked.flatMap((path) => {
      const text = readFileSync(join(workspaceRoot, path), 'utf8');
      return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([whole, file, anchor]) => {
        const target = file === '' ? join(workspaceRoot, path) : join(workspaceRoot, dirname(path), file!);
        if (!existsSync(target)) return [`${path}: ${whole}`];
        return anchor === undefined || anchorsOf(readFileSync(target, 'utf8')).includes(anchor) ? [] : [`${path}: ${whole}`];
      });
    });
    expect(broken).toEqual([]);
  });
});

for (const page of toRun)
  describe(page.path, () => {
    let system: System;
    let results: readonly Followed[];

    beforeAll(async () => {
      const folder = pageFolder();
      writeFiles(page, folder);
      const file = join(folder, 'conclave.yaml');
      system = await System.start({ demo: true, ...(existsSync(file) ? { env: { CONCLAVE_CONFIG: file } } : {}) });
      results = await follow(page, system, folder);
    });
    afterAll(() => system?.stop());

    it('works when its commands are pasted one after the other', () => {
      for (const { block, output } of results) expect([block.line, output]).toEqual([block.line, expect.not.stringContaining('"error":{')]);
    });

    it('shows the expected output', () => {
      const wrong = results.flatMap(({ shows, output }) =>
        shows ? missingLines(shows, output).map((line) => ({ at: shows.line, line, output })) : [],
      );
      expect(wrong).toEqual([]);
    });
  });
