import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { twoTenants, World } from '../__fixtures__/world.js';

let world: World;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-console-'));
  writeFileSync(join(folder, 'manifest.json'), '{"script":"console-AB.js","modules":["chunk-CD.js"],"styles":["console-EF.css"]}');
  writeFileSync(join(folder, 'console-AB.js'), 'export {};');
  writeFileSync(join(folder, 'console-AB.js.gz'), gzipSync('export {};'));
  writeFileSync(join(folder, 'console-EF.css'), 'body {}');
});
afterEach(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(world.url + path, { headers: { accept: 'text/html', ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('a gateway with a built console', () => {
  it('serves the page to browsers without a key, only on the paths of the console, with a new nonce each time', async () => {
    world = await World.open({ keys: twoTenants, parts: { consoleFolder: folder } });
    const pages = await Promise.all([get('/'), get('/console/runs/run_x'), get('/')]);
    for (const { status, text, headers } of pages) {
      expect([status, headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([200, 'no-store', 'nosniff']);
      expect(text).toContain('src="/assets/console-AB.js"');
      expect(text).toContain('href="/assets/console-EF.css"');
      const nonce = /nonce="([^"]+)"/.exec(text)![1]!;
      expect(headers.get('content-security-policy')).toContain(`'nonce-${nonce}'`);
      expect(text).not.toMatch(/<script(?![^>]*src=)/);
    }
    expect(new Set(pages.map(({ text }) => text)).size).toBe(3);
    expect((await get('/elsewhere')).status).toBe(404);
    expect((await get('/v1/models')).status).toBe(401);
    expect((await get('/', { accept: '*/*' })).text).toContain('Try it in a terminal');
  });

  it('serves only the files of its folder, compressed when the browser accepts that', async () => {
    world = await World.open({ keys: twoTenants, parts: { consoleFolder: folder } });
    const script = await get('/assets/console-AB.js', { 'accept-encoding': 'gzip' });
    expect([script.text, script.headers.get('content-type'), script.headers.get('content-encoding')]).toEqual([
      'export {};',
      'text/javascript; charset=utf-8',
      'gzip',
    ]);
    const plain = await get('/assets/console-AB.js', { 'accept-encoding': 'identity' });
    expect([plain.text, plain.headers.get('content-encoding')]).toEqual(['export {};', null]);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    for (const name of ['manifest.json', 'console-AB.js.gz', 'other.js', '..%2f..%2fetc%2fpasswd'])
      expect([name, (await get(`/assets/${name}`)).status]).toEqual([name, 404]);
  });
});

it('a gateway without a built console serves a plain first page, and the other paths say what to do', async () => {
  rmSync(join(folder, 'manifest.json'));
  world = await World.open({ parts: { consoleFolder: folder } });
  expect((await get('/')).text).toContain('Try it in a terminal');
  const inner = await get('/console/runs');
  expect([inner.status, inner.text]).toEqual([404, expect.stringContaining('npm run build')]);
  expect((await get('/assets/console-AB.js')).status).toBe(404);
});
