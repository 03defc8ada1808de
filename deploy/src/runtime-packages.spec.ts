import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folders, imported } from '../runtime-packages.mjs';

const root = join(import.meta.dirname, '../..');
/** Needed only if there is no Python, which the images have. */
const withoutPython = '@cortex-js/compute-engine';

describe('the packages of an image', () => {
  it('are those that files which are not bundled import', () => {
    const adapters = readdirSync(join(root, 'libs/adapters')).map((name) => join('libs/adapters', name, 'src/assets'));
    const files = adapters
      .filter((folder) => existsSync(join(root, folder)))
      .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, String(path))))
      .filter((path) => path.endsWith('.mjs'));
    expect(files.length).toBeGreaterThan(3);
    const names = files.flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/(?:from|import\()\s*'([^'./][^']*)'/g)].map(([, name = '']) => name),
    );
    const packages = new Set(names.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name)));
    expect([...packages].sort()).toEqual([...imported.filter((name) => name !== 'libsql'), withoutPython].sort());
  });

  it('come with all their dependencies, and without others', () => {
    const names = folders().map((folder) => folder.replace(/^.*node_modules\//, ''));
    expect(names).toEqual(expect.arrayContaining([...imported, '@neon-rs/load', 'detect-libc', 'domhandler', 'entities']));
    expect(names.some((name) => name.startsWith('@libsql/'))).toBe(true);
    expect(names).not.toEqual(expect.arrayContaining(['openai']));
    expect(names.length).toBeLessThan(60);
  });
});
