// What a reader of the progress sees while a model server that gets one call at a time, as local ones do, answers other calls.
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { ScriptedModelServer, type ScriptedReply, type ScriptedRequest } from '@conclave/test-support';
import { plainTemplate, roleOf, System } from '@conclave/test-support/system';

const plan = JSON.stringify({
  tasks: ['x1', 'x2'].map((id) => ({ id, task: `Say it of ${id}.`, capability: 'expert.general', needs: [] })),
});
const slowly: ScriptedReply = {
  chunks: [
    { text: 'It is', afterMs: 1_400 },
    { text: ' red.', afterMs: 1_400 },
  ],
};
function reply(request: ScriptedRequest): ScriptedReply {
  const role = roleOf(request);
  return role === 'planner' ? { text: plan } : role === 'expert' ? slowly : { text: 'Both are red.' };
}

let server: ScriptedModelServer;
let system: System;
beforeAll(async () => {
  server = await ScriptedModelServer.start({ script: [{ match: () => true, reply, times: Infinity }] });
  const model = 'm@own';
  system = await System.start({
    demo: true,
    configuration: {
      providers: { own: { base_url: server.url } },
      templates: {
        local: {
          ...{ ...plainTemplate, strategy: 'single-pass', learn: 'off', capabilities: [] },
          ...{ planner: { model }, judge: { model }, experts: { general: { t1: [model] } } },
        },
      },
    },
  });
});
afterAll(async () => {
  await system?.stop();
  await server?.close();
});
afterEach(() => expect(system.models.violations()).toEqual([]));

it('says which of two experts waits for the other, and why', async () => {
  const response = await fetch(`${system.url()}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'local', stream: true, messages: [{ role: 'user', content: 'Is it red, and is the other?' }] }),
  });
  const progress = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => (JSON.parse(line.slice(6)) as { choices: { delta: { reasoning_content?: string } }[] }).choices[0]?.delta)
    .flatMap((delta) => delta?.reasoning_content ?? [])
    .join('');
  expect(progress.match(/asks m@own/g)).toHaveLength(2);
  expect(progress.match(/Waits for m@own, which gets at most one call at a time and answers others first/g)).toHaveLength(1);
});
