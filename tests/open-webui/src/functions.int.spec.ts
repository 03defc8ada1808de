// The functions for Open WebUI, run by real Python as Open WebUI runs them, against a running system.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { KeyCreated, RunList } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { byAdmin, CommitteeScript, expert, inventedName, plainTemplate, readRun, System } from '@conclave/test-support/system';
import { called as calledWith, python, type Said } from './stand-in.js';

const caches = { answer: false, semantic: false, plan: false, search: false };
const keys = { all: 'sk-all-of-it-1', some: 'sk-some-of-it-2' };
let system: System;
beforeAll(async () => {
  if (!python)
    throw new Error(
      'No Python with aiohttp and pydantic was found: install python3-aiohttp and python3-pydantic, or name one in OPEN_WEBUI_PYTHON.',
    );
  system = await System.start({
    configuration: {
      templates: { town: { ...plainTemplate, strategy: 'single-pass', capabilities: ['research'], caches } },
      keys: { all: { key_env: 'KEY_ALL' }, some: { key_env: 'KEY_SOME' } },
    },
    corpus: {
      'clock.md': '# Town clock\n\nThe town clock of Wexel was built by Oda Brandt.\n',
      'pier.md': '# Pier\n\nThe harbour of Brine has a pier of oak.\n',
      'quay.md': '# Quay\n\nThe harbour of Brine has a quay of stone.\n',
    },
    env: { KEY_ALL: keys.all, KEY_SOME: keys.some },
  });
}, 120_000);
afterAll(() => system?.stop());

/** Calls a function with the unrestricted key, unless `valves` say otherwise. */
const called = (
  file: string,
  { valves, ...asked }: { readonly valves?: object; readonly [name: string]: unknown },
): Promise<readonly Said[]> => calledWith(file, asked, { base_url: `${system.url()}/v1`, api_key: keys.all, ...valves });

const user = { id: 'u-1', name: 'Zoë Muster', email: 'zoe@example.org', role: 'user' };
const metadata = { chat_id: 'chat-1', message_id: 'msg-1', session_id: 's-1' };
const given = (content: string, more: object = {}, body: object = {}) => ({
  body: { model: 'conclave.town', stream: true, messages: [{ role: 'user', content }], metadata, ...body },
  __user__: user,
  __metadata__: metadata,
  ...more,
});
const eventsOf = (said: readonly Said[], type: string) => said.flatMap(({ event }) => (event?.type === type ? [event.data] : []));
interface Cited {
  readonly source: { readonly name: string };
  readonly document: readonly string[];
  readonly metadata: readonly { readonly name: string; readonly run_id: string; readonly source: string }[];
}
const citationsOf = (said: readonly Said[]): readonly Cited[] => eventsOf(said, 'citation') as unknown as Cited[];
const textOf = (said: readonly Said[]): string => said.map(({ line }) => line?.choices?.[0]?.delta.content ?? '').join('');

function answered(question: string, answer: readonly string[], query = 'town clock of Wexel'): CommitteeScript {
  return new CommitteeScript(system.models, question)
    .plan([
      { id: 'r1', task: 'Look it up.', capability: 'research', search_query: query, needs: [] },
      { ...expert('x1', 'Say who.'), needs: ['r1'] },
    ])
    .expert('Oda Brandt built it.')
    .answer([...answer]);
}

/** Runs so far, newest first. */
const runs = async (): Promise<RunList['data']> =>
  ((await (await fetch(`${system.url()}/v1/runs`, { headers: { 'x-api-key': keys.all } })).json()) as RunList).data;

describe('the pipe', () => {
  it('lists the models of its key, and says what is wrong if it cannot', async () => {
    const [{ models } = {}] = await called('conclave_pipe.py', { do: 'pipes' });
    expect(models!.map(({ id }) => id)).toEqual(expect.arrayContaining(['conclave.town']));
    const issued = await fetch(`${system.url()}/v1/admin/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...byAdmin },
      body: JSON.stringify({ name: 'Open WebUI', templates: ['town'] }),
    });
    const { key } = (await issued.json()) as KeyCreated;
    const [{ models: few } = {}] = await called('conclave_pipe.py', { do: 'pipes', valves: { api_key: key } });
    expect([few!.map(({ id }) => id), models!.length > 1]).toEqual([['conclave.town'], true]);
    const [{ models: none } = {}] = await called('conclave_pipe.py', { do: 'pipes', valves: { api_key: 'sk-wrong' } });
    expect(none).toEqual([{ id: 'conclave.unavailable', name: expect.stringMatching(/key is missing or unknown/) }]);
    const [{ models: away } = {}] = await called('conclave_pipe.py', { do: 'pipes', valves: { base_url: 'http://127.0.0.1:9/v1' } });
    expect(away![0]!.id).toBe('conclave.unavailable');
  });

  it('streams the answer with its status and its citations, and the run can be rated', async () => {
    const question = `Who built the town clock (${inventedName()})?`;
    const s = answered(question, ['It was ', 'Oda Brandt [1].']);
    const said = await called('conclave_pipe.py', { do: 'pipe', given: given(question) });
    expect(textOf(said)).toContain('It was Oda Brandt [1].');
    expect(said.some(({ line }) => line?.choices?.[0]?.finish_reason === 'stop')).toBe(true);
    expect(said.some(({ line }) => line?.usage)).toBe(true);
    const statuses = eventsOf(said, 'status');
    expect(statuses.length).toBeGreaterThan(2);
    expect(statuses.filter(({ done }) => done)).toEqual([statuses.at(-1)]);
    const citations = citationsOf(said);
    expect(citations.map(({ source }) => source.name)).toEqual(['Town clock', 'How this answer was found']);
    const { run_id: runId } = citations.at(-1)!.metadata[0]!;
    expect((await readRun(system.url(), runId, { 'x-api-key': keys.all })).question).toBe(question);
    expect(s.unused()).toEqual([]);

    const rated = {
      id: 'msg-1',
      messages: [
        { id: 'msg-0', role: 'user' },
        { id: 'msg-1', role: 'assistant', sources: citations },
      ],
    };
    const bad = { do: 'action', given: { body: rated, __id__: 'bad' }, words: ' It was Ida Brandt. ' };
    expect(eventsOf(await called('conclave_rating.py', bad), 'notification')).toEqual([{ type: 'success', content: expect.any(String) }]);
    const again = await called('conclave_rating.py', { do: 'action', given: { body: rated, __id__: 'good' } });
    expect(eventsOf(again, 'notification')).toEqual([{ type: 'error', content: expect.stringMatching(/already has another rating/) }]);
    const foreign = await called('conclave_rating.py', { ...bad, valves: { api_key: keys.some } });
    expect(eventsOf(foreign, 'notification')).toEqual([{ type: 'error', content: expect.stringMatching(/No run has this id/) }]);
    const none = await called('conclave_rating.py', {
      do: 'action',
      given: { body: { id: 'msg-0', messages: rated.messages }, __id__: 'good' },
    });
    expect(eventsOf(none, 'notification')).toEqual([{ type: 'error', content: expect.stringMatching(/no run/) }]);
  }, 60_000);

  it('has a separate source for each number, because Open WebUI counts sources by name', async () => {
    const question = `What is the harbour made of (${inventedName()})?`;
    answered(question, ['Of stone [2].'], 'harbour of Brine');
    const citations = citationsOf(await called('conclave_pipe.py', { do: 'pipe', given: given(question) }));
    const { run_id: runId } = citations.at(-1)!.metadata[0]!;
    const { sources, evidence } = await readRun(system.url(), runId, { 'x-api-key': keys.all });
    const [second] = sources.filter(({ n }) => n === 2);
    expect(sources.filter(({ n }) => n !== undefined)).toEqual([second]);
    expect(citations.map(({ source }) => source.name)).toEqual(['Source 1 (not cited)', second!.title, 'How this answer was found']);
    expect(citations[1]!.document).toEqual(evidence.map(({ text }) => text));
    expect(citations[1]!.document.join()).toContain('harbour of Brine');
  }, 60_000);

  it('leaves documents of Open WebUI to it, and numbers its own sources behind them', async () => {
    const question = `Who built the clock, and when may we leave (${inventedName()})?`;
    const s = answered(question, ['Oda Brandt [2], and at five [1].']);
    const quoted = `Cite a <source> as [id].\n\n<context>\n<source id="1" name="hours.md">We may leave at five.</source>\n\n</context>\n\n${question}`;
    const said = await called('conclave_pipe.py', { do: 'pipe', given: given(quoted) });
    expect([textOf(said), s.unused()]).toEqual(['Oda Brandt [2], and at five [1].\n\nSources:\n[2] Town clock', []]);
    expect(citationsOf(said).map(({ source }) => source.name)).toEqual(['Town clock', 'How this answer was found']);
  }, 60_000);

  it('returns a whole answer if streaming is off', async () => {
    const question = `Who built the clock, in one piece (${inventedName()})?`;
    answered(question, ['Oda Brandt [1].']);
    const [{ result } = {}] = await called('conclave_pipe.py', {
      do: 'pipe',
      no_events: true,
      given: given(question, {}, { stream: false }),
    });
    expect(result!.choices[0]!.message.content).toContain('Oda Brandt [1].');
  });

  it.each(['title_generation', 'tags_generation', 'follow_up_generation', 'query_generation'])(
    'asks one small model for the tasks of Open WebUI itself: %s, whatever the wording of its template',
    async (task) => {
      const before = (await runs()).length;
      const prompt = `Écris ce qu’il faut pour ${inventedName()}, en JSON comme { "titre": "exemple" }.`;
      system.models.add({ name: task, match: prompt, reply: { text: 'Horloge' } });
      const said = await called('conclave_pipe.py', { do: 'pipe', given: given(prompt, { __task__: task }, { stream: false }) });
      expect(said.at(-1)!.result!.choices[0]!.message.content).toBe('{"titre":"Horloge"}');
      expect((await runs()).length).toBe(before);
    },
  );

  it('names the user with the headers of Open WebUI', async () => {
    const heads: Record<string, unknown>[] = [];
    const { createServer } = await import('node:http');
    const server = createServer((request, response) => {
      heads.push(request.headers);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base_url = `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`;
    const asked = { do: 'pipe', given: given('Who?', {}, { stream: false }) };
    await called('conclave_pipe.py', { ...asked, valves: { base_url } });
    await called('conclave_pipe.py', { ...asked, valves: { base_url, forward_user: false } });
    await new Promise((resolve) => server.close(resolve));
    const chat = { 'x-openwebui-chat-id': 'chat-1', 'x-openwebui-message-id': 'msg-1', authorization: `Bearer ${keys.all}` };
    expect(heads[0]).toMatchObject({
      ...chat,
      'x-openwebui-user-id': 'u-1',
      'x-openwebui-user-name': 'Zo%C3%AB Muster',
      'x-openwebui-user-email': 'zoe@example.org',
      'x-openwebui-user-role': 'user',
    });
    expect(heads[1]).toMatchObject(chat);
    expect(Object.keys(heads[1]!).filter((name) => name.startsWith('x-openwebui-user'))).toEqual([]);
  });

  it('ends the run when its user presses stop', async () => {
    const question = `Who built the clock, slowly (${inventedName()})?`;
    new CommitteeScript(system.models, question).plan([expert('x1', 'Say who.')]);
    system.models.add({
      name: 'never',
      match: ({ messages }) => JSON.stringify(messages).includes('Say who.'),
      reply: { hang: true },
      times: 5,
    });
    const said = await called('conclave_pipe.py', { do: 'pipe', leave_after: 1, given: given(question) });
    expect(said.filter(({ line }) => line)).toHaveLength(1);
    const ofQuestion = async (): Promise<RunList['data'][number] | undefined> => (await runs()).find((run) => run.question === question);
    await until('the end of the run', async () => (await ofQuestion())?.terminal, { timeoutMs: 90_000, everyMs: 500 });
    expect((await ofQuestion())!.status).toBe('cancelled');
  }, 120_000);

  it('shows the message of Conclave when it refuses a request', async () => {
    const said = await called('conclave_pipe.py', { do: 'pipe', given: given('Who?', {}, { model: 'conclave.nobody' }) });
    expect(said.at(-1)!.line!.error!.message).toMatch(/No template or model has this id/);
    expect(eventsOf(said, 'status')).toEqual([{ description: expect.stringMatching(/No template/), done: true }]);
  });
});
