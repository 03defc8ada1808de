// The frame of every page: what it loads, what it is allowed to do, navigation, colours, and a gateway that stops answering.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { System, workspaceRoot } from '@conclave/test-support/system';
import { axeFindings, TestBrowser } from './harness/browser.js';
import { looksRight } from './harness/looks.js';

let system: System;
let browser: TestBrowser;
beforeAll(async () => {
  [system, browser] = await Promise.all([System.start({ mode: 'embedded' }), TestBrowser.launch()]);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});

const folder = join(workspaceRoot, 'dist/console');
const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
  readonly script: string;
  readonly modules: readonly string[];
  readonly styles: readonly string[];
  readonly parts: Readonly<Record<string, readonly string[]>>;
};
/** Transferred KiB of these files. */
const travel = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + readFileSync(join(folder, `${name}.gz`)).length, 0) / 1024;

describe('the transferred files', () => {
  const first = [manifest.script, ...manifest.modules, ...manifest.styles];

  it('are less than 150 KiB before the first page', () => {
    expect(travel(first)).toBeLessThan(150);
  });

  it('are less than 150 KiB more for each part that is loaded on demand', () => {
    const parts = Object.entries(manifest.parts).map(([name, files]) => [name, travel(files.filter((file) => !first.includes(file)))]);
    expect(parts.length).toBeGreaterThan(0);
    expect(parts.filter(([, size]) => Number(size) >= 150)).toEqual([]);
  });

  it('are cached by the browser permanently, but the page itself is not', async () => {
    const get = (path: string, accept = 'text/html') => fetch(system.url() + path, { headers: { accept } });
    for (const name of readdirSync(folder).filter((file) => /\.(js|css)$/.test(file))) {
      const asset = await get(`/assets/${name}`);
      expect([name, asset.status, asset.headers.get('cache-control')]).toEqual([name, 200, 'public, max-age=31536000, immutable']);
      await asset.arrayBuffer();
    }
    const page = await get('/');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src-elem 'self' 'nonce-[\w-]{22}'; style-src-attr 'none'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; trusted-types default; require-trusted-types-for 'script'$/,
    );
    expect((await get('/assets/manifest.json')).status).toBe(404);
    expect((await get('/assets/..%2fstandalone.js')).status).toBe(404);
  });

  it("include the page only on the console's own paths", async () => {
    const get = async (path: string, accept = 'text/html') => {
      const response = await fetch(system.url() + path, { headers: { accept } });
      return [response.status, (await response.text()).includes('<div id="console">')];
    };
    expect(await get('/')).toEqual([200, true]);
    expect(await get('/console/chat/run_x')).toEqual([200, true]);
    expect(await get('/', '*/*')).toEqual([200, false]);
    for (const path of ['/v1/models', '/health', '/openapi.json']) expect(await get(path)).toEqual([200, false]);
    for (const path of ['/v1/none', '/elsewhere']) expect(await get(path)).toEqual([404, false]);
  });
});

describe('a page of the console', () => {
  it('passes axe and fits at every width, in light, dark and forced colours', async () => {
    await looksRight(browser, {
      name: 'chat-empty',
      url: `${system.url()}/`,
      ready: (page) => page.getByRole('heading', { level: 1 }).waitFor(),
    });
  });

  it('fails the same check when it has a fault', async () => {
    const visit = await browser.open(`${system.url()}/`);
    await visit.page.getByRole('heading', { level: 1 }).waitFor();
    await visit.page.evaluate(() => {
      const button = document.createElement('button');
      document.querySelector('main')!.append(button);
    });
    expect((await axeFindings(visit.page)).join()).toContain('button-name');
    await visit.page.evaluate(() => {
      fetch('http://192.0.2.1/').catch(() => undefined);
      document.body.setAttribute('style', 'color: red');
    });
    await expect(visit.check()).rejects.toThrow(/violated connect-src/);
    await visit.close();
  });
});
