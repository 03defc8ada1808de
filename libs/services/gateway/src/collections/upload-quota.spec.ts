import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryVectorStore, type Embedder } from '@conclave/ports';
import { twoTenants, World } from '../__fixtures__/world.js';

const embedder = {
  id: 'fixed',
  dimension: 2,
  embed: (texts: readonly string[]) => Promise.resolve(texts.map(() => [1, 0])),
} as unknown as Embedder;
let world: World;
beforeEach(async () => {
  world = await World.open({
    keys: twoTenants,
    template: { experts: { general: { t1: ['m@fake'], prompt: 'Answer.' }, vision: { t1: ['m@fake'], prompt: 'Look.' } } },
    limits: { maxTenantUploadBytes: 10_000 },
    parts: { vectors: new MemoryVectorStore().connect(), embedder },
  });
  for (const key of ['sk-a', 'sk-b'])
    expect((await world.post('/v1/collections', { name: 'notes', description: 'Notes.' }, by(key))).status).toBe(201);
});
afterEach(() => world.close());

const by = (key: string) => ({ headers: { 'x-api-key': key } });
const upload = async (name: string, bytes: number, key = 'sk-a') => {
  const body = { name: `${name}.txt`, mime: 'text/plain', text: name.charAt(0).repeat(bytes) };
  const response = await world.post('/v1/collections/notes/documents', body, by(key));
  return { status: response.status, body: (await response.json()) as { id: string; error?: { code: string; message: string } } };
};

describe('the upload quota of a tenant', () => {
  it('counts bytes, including those removed meanwhile, and nothing is stored beyond it', async () => {
    const first = await upload('a', 6_000);
    expect(first.status).toBe(202);
    const removed = await fetch(`${world.url}/v1/collections/notes/documents/${first.body.id}`, { method: 'DELETE', ...by('sk-a') });
    expect(removed.status).toBe(200);
    const refused = await upload('b', 6_000);
    expect(refused).toMatchObject({ status: 413, body: { error: { code: 'UPLOAD_QUOTA_REACHED' } } });
    expect(refused.body.error!.message).toContain('6000 of 10000');
    expect((await upload('c', 4_000)).status).toBe(202);
    expect((await upload('d', 1)).status).toBe(413);
  });

  it('is its own, and uploading a document that is already stored costs nothing', async () => {
    expect((await upload('a', 9_000)).status).toBe(202);
    expect((await upload('a', 9_000)).status).toBe(202);
    expect((await upload('a', 9_000, 'sk-b')).status).toBe(202);
  });

  it('applies to images in questions too', async () => {
    expect((await upload('a', 9_990)).status).toBe(202);
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ];
    const asked = await world.post('/v1/runs', { model: 'conclave', messages: [{ role: 'user', content }] }, by('sk-a'));
    expect([asked.status, ((await asked.json()) as { error?: { code: string } }).error?.code]).toEqual([413, 'UPLOAD_QUOTA_REACHED']);
    expect(world.runs()).toEqual([]);
  });
});
