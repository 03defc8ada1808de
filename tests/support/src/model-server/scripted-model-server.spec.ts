import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { HistoryWriter, openOperations, readHistory } from '../history.js';
import { until } from '../until.js';
import { ScriptedModelServer, type ScriptedModelServerOptions } from './scripted-model-server.js';

let server: ScriptedModelServer;
const open = async (options: ScriptedModelServerOptions): Promise<ScriptedModelServer> =>
  (server = await ScriptedModelServer.start(options));
afterEach(() => server.close());

const ask = (text: string, rest: object = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(`${server.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }], ...rest }),
    ...(signal ? { signal } : {}),
  });

describe('the scripted model server', () => {
  it('answers a step once and counts a second call as a violation', async () => {
    await open({ script: [{ match: { user: 'ping' }, reply: { text: 'pong' } }] });
    const first = (await (await ask('ping')).json()) as { choices: [{ message: { content: string } }] };
    expect(first.choices[0].message.content).toBe('pong');
    server.expectCalls(1);
    expect((await ask('ping')).status).toBe(500);
    expect(server.violations()).toEqual([expect.stringContaining('[user] ping')]);
    expect(() => server.expectCalls(2)).toThrow('received calls that no step answers');
  });

  it('lists the calls it received if their number is wrong, and the steps that never answered', async () => {
    await open({ script: [{ name: 'greeting', match: 'hello', reply: { text: 'hi' } }] });
    expect(() => server.expectCalls(1)).toThrow('Expected 1 model calls, saw 0');
    expect(server.unused()).toEqual(['greeting']);
  });

  it('streams word by word and ends with finish reason, usage and [DONE]', async () => {
    await open({
      script: [{ match: 'x', reply: { text: 'one two three', words: true, usage: { prompt_tokens: 3, completion_tokens: 4 } } }],
    });
    const body = await (await ask('x', { stream: true, stream_options: { include_usage: true } })).text();
    const lines = body
      .trim()
      .split('\n\n')
      .map((line) => line.slice('data: '.length));
    expect(lines.at(-1)).toBe('[DONE]');
    const chunks = lines
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { choices: { delta: { content?: string }; finish_reason: string | null }[]; usage?: object });
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '')).toEqual(['', 'one', ' two', ' three', '', '']);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
  });

  it('records when the caller left during a reply that hangs', async () => {
    await open({ script: [{ match: 'x', reply: { hang: true } }] });
    const leaving = new AbortController();
    const call = ask('x', {}, leaving.signal).catch((error: Error) => error.name);
    await until('the call', () => server.calls.length === 1);
    leaving.abort();
    expect(await call).toBe('AbortError');
    await until('the abort', () => server.calls[0]?.abortedAt);
  });

  it('ends a stream without a finish reason if the script cuts it', async () => {
    await open({
      script: [
        { match: 'x', reply: { truncateAfter: [{ text: 'half' }], cleanly: true } },
        { match: 'x', reply: { truncateAfter: [{ text: 'half' }] } },
      ],
    });
    const body = await (await ask('x', { stream: true })).text();
    expect(body).toContain('half');
    expect(body).not.toContain('[DONE]');
    await expect(ask('x', { stream: true }).then((response) => response.text())).rejects.toThrow('terminated');
  });

  it('refuses calls without its key', async () => {
    await open({ apiKey: 'k', script: [] });
    expect((await ask('x')).status).toBe(401);
    server.expectCalls(0);
  });

  it('writes one opening and one closing line per call', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'history-'));
    const history = new HistoryWriter(join(folder, 'h.ndjson'), 'p1', 'model');
    await open({
      history,
      script: [
        { match: 'a', reply: { text: 'ok' } },
        { match: 'b', reply: { status: 503 } },
      ],
    });
    await (await ask('a')).text();
    await (await ask('b')).text();
    const entries = readHistory(history.file);
    expect(entries.map((entry) => `${entry.id} ${entry.phase}`)).toEqual(['call-1 invoke', 'call-1 ok', 'call-2 invoke', 'call-2 fail']);
    expect(openOperations(entries)).toEqual([]);
    // Tokens that the server has used up to that point: a refused call costs nothing.
    expect(entries[1]!.data).toEqual({ ending: 'finished', status: 200, prompt_tokens: expect.any(Number), completion_tokens: 1 });
    expect(entries[3]!.data).toEqual({ ending: 'finished', status: 503, prompt_tokens: 0, completion_tokens: 0 });
    rmSync(folder, { recursive: true });
  });

  it('reports the cost of the prompt and of the text so far for a call that was cut off', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'history-'));
    const history = new HistoryWriter(join(folder, 'h.ndjson'), 'p1', 'model');
    await open({
      history,
      script: [
        { match: 'a', reply: { truncateAfter: [{ text: '12345678' }], cleanly: true } },
        { match: 'b', reply: { text: 'ok', usage: { prompt_tokens: 7, completion_tokens: 3 } } },
      ],
    });
    await (await ask('a', { stream: true })).text();
    await (await ask('b')).text();
    const [, cut, , whole] = readHistory(history.file).map(({ data }) => data);
    expect(cut).toMatchObject({ ending: 'cut', completion_tokens: 2 });
    expect(whole).toMatchObject({ ending: 'finished', prompt_tokens: 7, completion_tokens: 3 });
    rmSync(folder, { recursive: true });
  });
});
