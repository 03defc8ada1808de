import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, jest } from '@jest/globals';
import { openSqlite } from '@conclave/adapter-sqlite';
import { topicsFor, type CallRecorded, type Event } from '@conclave/contracts';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { replayCommand } from './commands/replay.js';
import { up } from './commands/up.js';

// Starting all services is slow on a busy machine.
jest.setTimeout(60_000);

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-attachments-'));
const sink = { write: () => undefined };
afterAll(() => rmSync(home, { recursive: true, force: true }));

const load = () => loadConfiguration({ CONCLAVE_HOME: home, PORT: '0' }, home, { categories: Object.keys(expertPrompts) });
const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(100_000, 7)]).toString('base64');
const note = 'The keeper of the lighthouse is called Marta Oakes.';
const content = [
  { type: 'text', text: 'Compare this picture with what the note says about the lighthouse.' },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
  { type: 'file', file: { filename: 'note.txt', file_data: `data:text/plain;base64,${Buffer.from(note).toString('base64')}` } },
];

async function recorded(): Promise<readonly Event[]> {
  const sqlite = openSqlite({ home, processId: 'test', durability: 'process' });
  try {
    const events: Event[] = [];
    for (const { name } of topicsFor()) for await (const { event } of sqlite.log.read(name)) if (event) events.push(event);
    return events;
  } finally {
    await sqlite.close();
  }
}

it('a run with an image and a file is recorded without their content, and replays the same', async () => {
  const running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
  let runId: string;
  try {
    const response = await fetch(`${running.listening.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'conclave', messages: [{ role: 'user', content }] }),
    });
    expect(response.status).toBe(200);
    runId = response.headers.get('x-run-id')!;
  } finally {
    await running.close();
  }

  const events = await recorded();
  const looked = events.find(({ type, data }) => type === 'CallRecorded' && (data as CallRecorded['data']).purpose === 'expert.vision')!;
  expect((looked.data as CallRecorded['data']).request).toMatchObject({
    messages: [
      {},
      {
        attached: [
          { kind: 'image', blob: expect.stringMatching(/^[0-9a-f]{64}$/) },
          { kind: 'file', name: 'note.txt' },
        ],
      },
    ],
  });
  const audit = JSON.stringify(events.filter(({ type }) => type === 'CallRecorded' || type === 'TaskDispatched'));
  expect(audit).not.toContain(png.slice(100, 200));

  let text = '';
  const out = { write: (line: string) => void (text += line) };
  const code = await replayCommand({ loaded: load(), runId, recorded: true, out, terminal: sink });
  expect([code, text]).toEqual([0, expect.stringContaining(runId)]);
});
