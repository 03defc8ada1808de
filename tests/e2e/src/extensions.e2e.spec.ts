import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ask,
  CommitteeScript,
  System,
  expert,
  plainTemplate,
  readRun,
  user,
  workspaceRoot,
  type Task,
} from '@conclave/test-support/system';

// The modules of the guide, unchanged, in a folder outside the repository.
const guide = readFileSync(join(workspaceRoot, 'docs/guides/extensions.md'), 'utf8');
const modules = [...guide.matchAll(/```js\n\/\/ (\S+\.mjs)\n([\s\S]*?)```/g)].map(([, name, code]) => ({ name: name!, code: code! }));
const folder = mkdtempSync(join(tmpdir(), 'conclave-extension-'));
for (const { name, code } of modules) writeFileSync(join(folder, name), code);

let system: System;
beforeAll(async () => {
  system = await System.start({
    configuration: {
      extensions: modules.map(({ name }) => join(folder, name)),
      templates: { careful: { ...plainTemplate, strategy: 'second-look', options: { looks: 2 }, capabilities: ['tides'] } },
    },
  });
});
afterAll(async () => {
  await system?.stop();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => expect(system.models.violations()).toEqual([]));

const tides = (id: string, args: Readonly<Record<string, unknown>>): Task => ({
  ...{ id, task: 'When is high tide?', capability: 'tides', mcp_args: args },
});
/** What the judge of the extension replies, in the order of its calls. */
const doubts = (question: string, ...replies: string[]): void =>
  replies.forEach((text) => system.models.add({ match: { system: 'You doubt what was found', user: question }, reply: { text } }));

describe('the extensions of the guide', () => {
  it('are both in the guide', () => {
    expect(modules.map(({ name }) => name)).toEqual(['second-look.mjs', 'tides.mjs']);
  });

  it('answer over HTTP: the capability returns facts, the strategy doubts them and plans again', async () => {
    const s = new CommitteeScript(system.models, 'When is high tide in Brest, and is that sure?');
    s.plan([tides('t1', { harbour: 'Brest' })])
      .plan([tides('t2', { harbour: 'Saint Malo' })], { iteration: 1 })
      .answer(['At 03:12 and 15:37 [1].']);
    doubts(s.question, '{"doubt": "whether Saint Malo is meant"}', '{"doubt": "none"}');
    const { status, body } = await ask(system.url(), { model: 'careful', messages: user(s.question) });
    expect(status).toBe(200);
    expect(body.choices[0]!.message.content).toContain('At 03:12 and 15:37');
    const run = await readRun(system.url(), body.conclave!.run_id);
    expect(run).toMatchObject({ outcome: 'completed', rule: 'D3', template: { strategy: 'second-look' } });
    expect(run.rounds.map(({ tasks }) => tasks.map(({ capability, status: ended, facts }) => [capability, ended, facts]))).toEqual([
      [
        ['tides', 'ok', 1],
        ['judge.doubt', 'ok', 0],
      ],
      [
        ['tides', 'ok', 1],
        ['judge.doubt', 'ok', 0],
        ['judge.write', 'ok', 0],
      ],
    ]);
    expect(run.sources).toEqual([expect.objectContaining({ title: 'Tide table' })]);
    expect(s.unused()).toEqual([]);
  });

  it('send back a plan whose arguments the capability does not accept', async () => {
    const s = new CommitteeScript(system.models, 'When is high tide in Brest on Sunday?');
    s.plan([tides('t1', { town: 'Brest' })])
      .plan([tides('t1', { harbour: 'Brest' })])
      .answer(['At 03:12.']);
    doubts(s.question, '{"doubt": "none"}');
    const { body } = await ask(system.url(), { model: 'careful', messages: user(s.question) });
    const run = await readRun(system.url(), body.conclave!.run_id);
    expect(run.rounds[0]!.planUsage.calls).toBe(2);
    expect(run).toMatchObject({ outcome: 'completed' });
  });

  it('fail as a task when the capability throws, and ask again when the reply of the judge is invalid', async () => {
    const s = new CommitteeScript(system.models, 'When is high tide in Atlantis?');
    s.plan([tides('t1', { harbour: 'Atlantis' }), expert('x1', 'Say what is known.')])
      .expert('Nothing is known of it.')
      .answer(['Nobody knows.']);
    doubts(s.question, 'I doubt nothing.', '{"doubt": "none"}');
    const { body } = await ask(system.url(), { model: 'careful', messages: user(s.question) });
    expect(body.choices[0]!.message.content).toContain('Nobody knows.');
    const run = await readRun(system.url(), body.conclave!.run_id);
    const [failed, heard, doubt] = run.rounds[0]!.tasks;
    expect(failed).toMatchObject({ status: 'error', failure: { message: expect.stringContaining('no harbour is called Atlantis') } });
    expect([heard!.status, doubt!.usage.calls]).toEqual(['ok', 2]);
  });
});
