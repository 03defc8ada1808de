import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Attachment, type CallRecorded, Failure } from '@conclave/contracts';
import { getLocked, MemoryBlobs, MemoryDocuments, type RemoteFiles } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { reply, template, World, type WorldOptions } from '../__fixtures__/world.js';

const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(90_000, 7)]);
const dataUrl = (mime: string, bytes: Buffer | string): string => `data:${mime};base64,${Buffer.from(bytes).toString('base64')}`;
const image = { type: 'image_url', image_url: { url: dataUrl('image/png', png), detail: 'low' } };
const file = (text: string, filename = 'note.md', mime = 'text/markdown') => ({
  type: 'file',
  file: { filename, file_data: dataUrl(mime, text) },
});
const words = (text: string) => ({ type: 'text', text });
const audio = { type: 'input_audio', input_audio: { data: 'A'.repeat(4_000), format: 'wav' } };
const profile = { t1: ['m@fake'], prompt: '' };

/** Addresses that were fetched. */
const asked: string[] = [];
const remoteFiles: RemoteFiles = {
  read: async ({ url }) => {
    asked.push(url);
    if (url.includes('inside')) throw new Failure('PAGE_REFUSED', 'Its host is not on the public web.');
    return url.endsWith('.html') ? Buffer.from('<html>') : png;
  },
};

let blobs: MemoryBlobs;
let world: World;
const open = async (options: WorldOptions = {}): Promise<void> => {
  blobs = new MemoryBlobs();
  const experts = { ...template.experts, vision: profile };
  asked.length = 0;
  world = await World.open({ template: { experts }, parts: { blobs, documents: new MemoryDocuments(), remoteFiles }, ...options });
};
beforeEach(() => open());
afterEach(() => world.close());

const asks = (...content: readonly object[]) => world.chat({ messages: [{ role: 'user', content }] });
async function refused(pending: Promise<Response>): Promise<{ status: number; code: string; message: string; param: string | null }> {
  const response = await pending;
  const { error } = (await response.json()) as { error: { code: string; message: string; param: string | null } };
  expect(world.runs()).toEqual([]);
  return { status: response.status, ...error };
}
const bytesOf = (one: Attachment | undefined) => getLocked(blobs, { sha256: one!.blob!, bytes: one!.bytes!, key: one!.key! });
async function accepted(pending: Promise<Response>) {
  const response = await pending;
  if (response.status !== 200) throw new Error(await response.text());
  await response.body?.cancel();
  return world.requested()[0]!.data;
}

describe('images and files of the last user message', () => {
  it('are stored with the run, with their bytes only in the blob store', async () => {
    const data = await accepted(asks(words('What is this?'), image, file('# Tin\n\nA metal.')));
    expect(data.goal).toBe('What is this?');
    expect(data.attachments).toMatchObject([
      { kind: 'image', mime: 'image/png', url: null },
      { kind: 'file', mime: 'text/markdown', name: 'note.md', text: { characters: 15, excerpt: '# Tin\n\nA metal.' } },
    ]);
    const [seen, text] = data.attachments!;
    expect((await bytesOf(seen)).equals(png)).toBe(true);
    expect((await bytesOf(text)).toString()).toBe('# Tin\n\nA metal.');
    // Only the run has the keys: once it is deleted, its attachments cannot be read.
    expect((await blobs.get({ sha256: text!.blob!, bytes: text!.bytes! })).toString('latin1')).not.toContain('Tin');
    expect(JSON.stringify([...world.stores.headers.values()])).not.toContain(png.toString('base64').slice(40, 80));
  });

  it('are accepted in a request to /v1/runs as well', async () => {
    const response = await world.post('/v1/runs', { model: 'conclave', messages: [{ role: 'user', content: [words('What?'), image] }] });
    expect(response.status).toBe(202);
    expect(world.requested()[0]!.data.attachments).toHaveLength(1);
  });

  it('may be given by an address, which the gateway fetches', async () => {
    const url = 'https://pictures.example/cat.png';
    const data = await accepted(asks(words('What is this?'), { type: 'image_url', image_url: { url } }));
    expect(data.attachments).toMatchObject([{ kind: 'image', mime: 'image/png', url: null }]);
    expect((await bytesOf(data.attachments![0])).equals(png)).toBe(true);
    expect(asked).toEqual([url]);
  });

  it('is refused when its address may not be fetched or does not return an image', async () => {
    const at = (url: string) => refused(asks(words('What is this?'), { type: 'image_url', image_url: { url } }));
    for (const url of ['https://inside.example/x.png', 'https://pictures.example/page.html'])
      expect(await at(url)).toMatchObject({ status: 400, code: 'ATTACHMENT_INVALID', param: 'messages[0].content[1]' });
    expect((await at('https://inside.example/x.png')).message).toContain('not on the public web');
  });

  it('bypass every answer cache', async () => {
    const data = await accepted(asks(words('What is this?'), file('text')));
    expect(data.cached).toBeUndefined();
    expect(data.caching ?? { exact: null, scope: null }).toEqual({ exact: null, scope: null });
  });

  it('treat an SVG drawing with a script as text', async () => {
    const svg = '<svg><script>alert(1)</script></svg>';
    const data = await accepted(
      asks(words('What does it draw?'), { type: 'image_url', image_url: { url: dataUrl('image/svg+xml', svg) } }),
    );
    expect(data.attachments).toMatchObject([{ kind: 'file', mime: 'image/svg+xml', text: { excerpt: svg } }]);
  });

  it('of earlier turns are named in the conversation and not read again', async () => {
    const response = world.chat({
      messages: [
        { role: 'user', content: [words('What is this?'), image, file('x')] },
        { role: 'assistant', content: 'A cat.' },
        { role: 'user', content: 'And what does it eat?' },
      ],
    });
    const data = await accepted(response);
    expect(data.attachments).toBeUndefined();
    expect(data.conversation[0]!.content).toBe('What is this?\n[image]\n[file]');
  });
});

describe('images and files that are refused', () => {
  it('because the template has no model with vision name that reason', async () => {
    await world.close();
    await open({ template: { experts: { general: profile } } });
    const refusal = await refused(asks(words('What is this?'), image));
    expect(refusal).toMatchObject({ status: 400, code: 'VISION_MISSING', param: 'messages[0].content[1]' });
    expect(refusal.message).toContain('Add `vision` to the `experts`');
    expect((await asks(words('What is this?'), file('text'))).status).toBe(200);
  });

  it('because the strategy reads no attachments name that reason', async () => {
    await world.close();
    await open({ template: { experts: { general: profile, vision: profile }, strategy: 'waves' } });
    for (const part of [image, file('text')])
      expect(await refused(asks(words('What is this?'), part))).toMatchObject({
        ...{ status: 415, code: 'ATTACHMENT_UNSUPPORTED', param: 'messages[0].content[1]' },
        message: expect.stringContaining('strategy waves'),
      });
  });

  it.each([
    ['sound', audio],
    ['an unknown kind', { type: 'hologram' }],
    ['a program', file('MZ', 'a.exe', 'application/x-msdownload')],
  ])('name what can be sent instead: %s', async (_, part) => {
    const refusal = await refused(asks(words('What is this?'), part));
    expect(refusal).toMatchObject({ status: 415, code: 'ATTACHMENT_UNSUPPORTED', param: 'messages[0].content[1]' });
    expect(refusal.message).toContain('Send text, images (PNG');
  });

  it('may be malformed, empty, or in a message that may carry none', async () => {
    expect(await refused(asks(words('x'), { type: 'image_url', image_url: { url: 'javascript:alert(1)' } }))).toMatchObject({
      status: 400,
      code: 'ATTACHMENT_INVALID',
    });
    expect(await refused(asks(words('x'), file(' ')))).toMatchObject({ status: 400, code: 'ATTACHMENT_INVALID' });
    expect(await refused(asks(image))).toMatchObject({ status: 400, code: 'REQUEST_INVALID' });
    const messages = [
      { role: 'system', content: [image] },
      { role: 'user', content: 'x' },
    ];
    expect(await refused(world.chat({ messages }))).toMatchObject({ status: 415, param: 'messages[0].content[0]' });
  });

  it('may be too many, too large together, or contain a text that is too long', async () => {
    await world.close();
    await open({ limits: { maxAttachments: 2, maxAttachmentBytes: 100_000, maxBodyBytes: 10_000 } });
    expect(await refused(asks(words('x'), file('a'), file('b'), file('c')))).toMatchObject({ status: 413, code: 'ATTACHMENTS_TOO_LARGE' });
    expect(await refused(asks(words('x'), image, file('b'.repeat(20_000))))).toMatchObject({ status: 413 });
    expect(
      await refused(asks(words('x'), { type: 'image_url', image_url: { url: dataUrl('image/png', Buffer.alloc(5_000_000)) } })),
    ).toMatchObject({ status: 413 });
    expect(await refused(asks(words('x'.repeat(20_000))))).toMatchObject({ status: 413, code: 'REQUEST_TOO_LARGE' });
    expect((await asks(words('x'), image)).status).toBe(200);
  });

  it('leave nothing in the blob store', async () => {
    const kept: Buffer[] = [];
    blobs.put = async (body) => (kept.push(body), { sha256: '', bytes: 0 });
    await refused(asks(words('x'), image, file('MZ', 'a.exe', 'application/x-msdownload')));
    expect(kept).toEqual([]);
  });
});

describe('a model that is called directly', () => {
  it('receives every part unchanged, and the audit keeps only hashes of them', async () => {
    await world.close();
    await open();
    world.models.next(() => Promise.resolve(reply()));
    const content = [words('What is this?'), image, audio, { type: 'hologram', scale: 2 }];
    const messages = [
      { role: 'user', content: [words('one '), words('two')] },
      { role: 'user', content },
    ];
    const response = await world.chat({ model: 'm@fake', stream: false, messages });
    expect(response.status).toBe(200);
    expect(world.models.calls[0]!.request.body['messages']).toEqual(messages);
    await until('the record', () => world.events('audit').length > 0);
    expect(world.events<CallRecorded>('audit')[0]!.data.requestHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('never receives a part that is nested too deeply to be serialized', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const body = `{"model":"m@fake","messages":[{"role":"user","content":[{"type":"hologram","of":${deep}}]}]}`;
    expect(await refused(world.post('/v1/chat/completions', body))).toMatchObject({ status: 400, param: null });
  });

  it('receives the bytes of an image and never its address; each address is fetched once', async () => {
    world.models.next(() => Promise.resolve(reply()));
    const at = { type: 'image_url', image_url: { url: 'https://pictures.example/cat.png', detail: 'high' } };
    const messages = [
      { role: 'user', content: [words('see http://pictures.example/'), at] },
      { role: 'assistant', content: 'A cat.' },
      { role: 'tool', tool_call_id: 'x', content: [at] },
    ];
    const response = await world.chat({ model: 'm@fake', stream: false, messages });
    expect(response.status).toBe(200);
    const sent = { type: 'image_url', image_url: { url: dataUrl('image/png', png), detail: 'high' } };
    expect(world.models.calls[0]!.request.body['messages']).toEqual([
      { role: 'user', content: [words('see http://pictures.example/'), sent] },
      { role: 'assistant', content: 'A cat.' },
      { role: 'tool', tool_call_id: 'x', content: [sent] },
    ]);
    expect(asked).toEqual(['https://pictures.example/cat.png']);
  });

  it.each([
    [{ type: 'image_url', image_url: { url: 'http://169.254.169.254/latest/meta-data' } }],
    [{ type: 'image_url', image_url: 'http://127.0.0.1/x.png' }],
    [{ type: 'image_url', image_url: { url: 'https://inside.example/x.png' } }],
    [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }],
    [{ type: 'image_url', image_url: { url: ' ht\ntp://169.254.169.254/' } }],
    [{ type: 'image_url', image_url: { url: 'gopher://x/' } }],
    [{ type: 'image_url', image_url: { url: dataUrl('image/png', png) }, fallback: 'http://10.0.0.1/' }],
    [{ type: 'video_url', video_url: { url: 'https://pictures.example/v.mp4' } }],
    [{ type: 'audio_url', audio_url: { url: 'http://10.0.0.1/a.wav' } }],
    [{ type: 'input_image', image_url: 'http://10.0.0.1/x.png' }],
    [{ type: 'image', image: '\\thttp:\\\\10.0.0.1/x.png'.replaceAll('\\t', '\t') }],
    [{ image_url: { url: 'http://10.0.0.1/x.png' } }],
    [{ type: 'text', text: 'x', image_url: { url: 'http://10.0.0.1/x.png' } }],
    [{ type: 'file', file: { file_url: 'file:/etc/passwd' } }],
    [{ type: 'input_file', file_url: '//10.0.0.1/x' }],
  ])('never receives an address that was not checked: %j', async (part) => {
    const answered = await refused(world.chat({ model: 'm@fake', messages: [{ role: 'user', content: [words('x'), part] }] }));
    expect(answered).toMatchObject({ status: 400, code: 'ATTACHMENT_INVALID', param: 'messages[0].content[1]' });
    expect(world.models.calls).toEqual([]);
  });

  it('never receives an address outside the message content or of a tool server', async () => {
    const beside = { messages: [{ role: 'user', content: 'x', images: ['http://10.0.0.1/x'] }] };
    expect(await refused(world.chat({ model: 'm@fake', ...beside }))).toMatchObject({ status: 400, param: 'messages[0].images' });
    const tools = [
      { type: 'function', function: { name: 'f', description: 'http://docs.example' } },
      { type: 'mcp', server_url: 'http://10.0.0.1/mcp' },
    ];
    expect(await refused(world.chat({ model: 'm@fake', tools }))).toMatchObject({ status: 400, param: 'tools[1]' });
  });

  it('accepts an image without any text', async () => {
    world.models.next(() => Promise.resolve(reply()));
    const response = await world.chat({ model: 'm@fake', stream: false, messages: [{ role: 'user', content: [image] }] });
    expect(response.status).toBe(200);
    expect(world.models.calls[0]!.request.body['messages']).toEqual([{ role: 'user', content: [image] }]);
  });
});
