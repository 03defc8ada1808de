import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { bundled, refuseMisread } from './bundle.mjs';
import { loadProgram } from './bundle-loader.mjs';

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-bundle-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a module exports once it is bundled and loaded as it ships, beside what it exports to Node. */
async function shippedAndOwn(source) {
  const file = join(folder, 'source.mjs');
  writeFileSync(file, source);
  const [{ path, contents }] = await bundled([{ in: file, out: 'program' }], folder);
  writeFileSync(path, contents);
  const { exports } = loadProgram(pathToFileURL(join(folder, 'main.js')).href, 'none.cache');
  return { shipped: exports, own: await import(pathToFileURL(file).href) };
}

describe('a bundle', () => {
  it('means what its sources mean, whatever characters they hold', async () => {
    const { shipped, own } = await shippedAndOwn(`\ufeff// “comment” – ✓
const größe\u00a0= { 'ключ': '°“😀', ключ2: \`°\${'ß'}“\` };
const texts = ['98.6 °F', 'é\\\\', '😀😀', '“x”', 'größe', '\\\\u00b0', 'a−b'];
const expressions = [/[°é]/u, /\\\\é|é\\\\/, /\\€|\\°/, /^😀{2}$/u, /[😀-😂]/u, /(?<größe>gr(?:ö|oe)ße)/u, /[“”]\\w[“”]/, /\\\\u00b0/, /[-−/]/ /* “” */, /[^\\p{L}°]/u];
/** Every expression in every text. */
export const found = () => expressions.map((one) => texts.map((text) => [...(one.exec(text) ?? []), { ...one.exec(text)?.groups }]));
export const said = [größe.ключ, größe.ключ2, /* é */ 'ü', expressions.length];\u2028export const after = /* \u2029 */ 1;
class Fläche { #größe = 3; ['ü']() { return this.#größe; } static get ß() { return new Fläche().ü(); } }
export const area = Fläche.ß;
export const tagged = ((strings, value) => [strings.raw[0], value])\`plain\\n\${/“/.test('“')}\`;
`);
    expect(shipped.found()).toEqual(own.found());
    expect(own.found()[0][0]).toEqual(['°', {}]);
    expect({ ...shipped, found: undefined }).toEqual({ ...own, found: undefined });
  });

  it('is refused where its loader would read a character as another one, with the place', async () => {
    const program = (text) => Buffer.from(`const one = 1;\nconst two = ${text};\n`);
    expect(() => refuseMisread('apps/some/program.cjs', program('/[°]/u'))).toThrow(
      /^apps\/some\/program\.cjs:2 .*"°".*const two = \/\[°\]\/u;/,
    );
    expect(() => refuseMisread('apps/some/program.cjs', program('/[\\u00b0]/u'))).not.toThrow();
    // The raw text of a tagged template has no escape that means the same.
    await expect(shippedAndOwn('export const raw = String.raw`°`;')).rejects.toThrow('would be read wrong');
  });
});
