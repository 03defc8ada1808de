import { describe, expect, it } from '@jest/globals';
import { Failure, noUsage, promptMarks as marks, type AttachedReference } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import { MemoryBlobs, MemoryStores, type ModelCall, type Models } from '@conclave/ports';
import { CallMaker } from '@conclave/calls';
import { contentFrom } from './attached-content.js';

const body = Buffer.from('the picture');
const text = Buffer.from('Tin is a metal.');
async function filled() {
  const blobs = new MemoryBlobs();
  const [picture, note] = [await blobs.put(body), await blobs.put(text)];
  const image: AttachedReference = { kind: 'image', mime: 'image/png', blob: picture.sha256, bytes: picture.bytes, url: null };
  const file: AttachedReference = {
    ...{ kind: 'file', mime: 'text/plain', name: 'tin.txt', blob: note.sha256, bytes: note.bytes },
    ...{ room: 100, tokens: 4, query: 'tin' },
  };
  return { blobs, image, file, picture };
}
const data = `data:image/png;base64,${body.toString('base64')}`;

describe('what messages refer to', () => {
  it('is inserted right before a call: files as quoted text, images as parts after it', async () => {
    const { blobs, image, file } = await filled();
    const remote: AttachedReference = { kind: 'image', mime: 'image/*', blob: null, bytes: 0, url: 'https://pictures.example/x.png' };
    const [plain, message] = await contentFrom(blobs)([
      { role: 'system', content: 'See.' },
      { role: 'user', content: 'What?', attached: [image, file, remote] },
    ]);
    const content = `What?\n\nATTACHED FILE "tin.txt":\n${marks.data.open}\nTin is a metal.\n${marks.data.close}`;
    expect(plain).toEqual({ role: 'system', content: 'See.' });
    expect(message).toEqual({
      role: 'user',
      content,
      parts: [
        { type: 'text', text: content },
        { type: 'image_url', image_url: { url: data } },
        { type: 'image_url', image_url: { url: 'https://pictures.example/x.png' } },
      ],
    });
    const [textOnly] = await contentFrom(blobs)([{ role: 'user', content: 'What?', attached: [file] }]);
    expect(textOnly).toEqual({ role: 'user', content });
  });

  it('ends the call if it is gone or changed, and waits for a store that is unavailable', async () => {
    const { blobs, image, picture } = await filled();
    const asked = [{ role: 'user', content: 'What?', attached: [image] }] as const;
    blobs.corrupt(picture);
    await expect(contentFrom(blobs)(asked)).rejects.toMatchObject({ code: 'ATTACHMENT_MISSING' });
    await expect(contentFrom(new MemoryBlobs())(asked)).rejects.toMatchObject({ code: 'ATTACHMENT_MISSING' });
    const away = { get: () => Promise.reject(new Failure('STORE_UNAVAILABLE')) };
    await expect(contentFrom(away)(asked)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('goes to the model, while journal and audit keep its hash', async () => {
    const { blobs, image } = await filled();
    const stores = new MemoryStores();
    const { state, stream } = stores.connect('one');
    const sent: ModelCall[] = [];
    const models = {
      providers: () => Promise.resolve([]),
      call: (request: ModelCall) => {
        sent.push(request);
        const usage = { ...noUsage, calls: 1 };
        return Promise.resolve({
          content: 'A cat.',
          reasoning: '',
          finishReason: 'stop',
          usage,
          reportedModel: null,
          firstTokenMs: 1,
          durationMs: 2,
        });
      },
    } as unknown as Models;
    const maker = new CallMaker({
      state,
      stream,
      models,
      probe: noProbe,
      logger: silentLogger,
      metrics: openMetrics(),
      processId: 'one',
      service: 'experts',
      storePrompts: 'full',
      guard: null,
    });
    const ask = () =>
      maker.model({
        runId: 'run_1',
        owner: 'run_1/0/a',
        index: 0,
        purpose: 'expert.vision',
        prices: {},
        request: { model: 'eyes@fake', messages: [{ role: 'user', content: 'What?', attached: [image] }] },
        fillIn: contentFrom(blobs),
        deadline: Date.now() + 60_000,
        signal: new AbortController().signal,
      });
    const end = await ask();
    expect(sent[0]!.messages[0]!.parts).toContainEqual({ type: 'image_url', image_url: { url: data } });
    expect(end.kind === 'reply' && end.record.data).toMatchObject({
      request: { messages: [{ content: 'What?', attached: [{ blob: image.blob }] }] },
    });
    expect(JSON.stringify(end)).not.toContain(body.toString('base64'));
    // The journal answers a repeat: nothing is fetched or sent again.
    expect(await ask()).toMatchObject({ kind: 'reply', replayed: true });
    expect(sent).toHaveLength(1);
    await maker.close();
  });
});
