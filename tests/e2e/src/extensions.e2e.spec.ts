import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ask,
  CommitteeScript,
  System,
  expert,
  logText,
  plainTemplate,
  readRun,
  runEnd,
  startRun,
  user,
  workspaceRoot,
  type Task,
} from '@conclave/test-support/system';

// The modules of the guide, unchanged, in a folder outside the repository.
const guide = readFileSync(join(workspaceRoot, 'docs/guides/extensions.md'), 'utf8');
const modules = [...guide.matchAll(/```js\n\/\/ (\S+\.mjs)\n([\s\S]*?)```/g)].map(([, name, code]) => ({ name: name!, code: code! }));
const folder = mkdtempSync(join(tmpdir(), 'conclave-extension-'));
for (const { name, code } of modules) writeFileSync(join(folder, name), code);
const [, jury] = /```ts\n\/\/ jury\.ts\n([\s\S]*?)```/.exec(guide)!;
writeFileSync(join(folder, 'jury.ts'), jury!);
// The command of the guide.
const [, compile] = /npx esbuild (jury\.ts .*)/.exec(guide)!;
execFileSync(join(workspaceRoot, 'node_modules/.bin/esbuild'), compile!.split(' '), { cwd: folder, stdio: 'pipe', timeout: 60_000 });
const [, parent] = /```js\n(startsRuns: [\s\S]*?)```/.exec(guide)!;
writeFileSync(join(folder, 'parent.mjs'), `export default ({ strategy }) => ({ strategies: [strategy({ id: 'parent', ${parent!} })] });`);
const own = ['jury.mjs', 'parent.mjs'];

// Mistakes that a stranger makes: each strategy has one.
const mistakes = {
  throwing: ["next: () => { throw new TypeError('no votes'); }", 'failed in `next`: TypeError: no votes (broken.mjs:'],
  asynchronous: ["next: async () => [{ do: 'plan' }]", 'It returned a promise (it must not be `async`), not a list of moves (broken.mjs).'],
  endless: ["next: () => [{ do: 'note', data: { n: 1 } }]", 'goes in circles'],
  bigint: ["initial: () => ({ n: 10n }), next: () => [{ do: 'plan' }]", 'own.n is a bigint'],
  unfolding: ["evolve: () => { throw new Error('no state'); }, next: () => [{ do: 'plan' }]", 'failed in `evolve`: Error: no state'],
  unplanning: [
    "planner: { ask: () => { throw new Error('no plan'); } }, next: ({ run }) => (run.ending ? [] : [{ do: 'plan' }])",
    'failed in `planner.ask`: Error: no plan (broken.mjs:',
  ],
  unasking: [
    `judges: { vote: { task: 'Vote', question: question({ name: 'vote', prompt: () => { throw new Error('no words'); }, read: () => ({ output: {} }) }),
       input: () => ({ kind: 'values', values: {} }), take: (own, { failure }) => ({ said: failure.message }) } },
     next: ({ run, own }) => run.ending ? [] : own.said ? [{ do: 'decide', reading: { by: 'rounds', sufficient: true } }] : [{ do: 'judge', name: 'vote' }]`,
    'The question "vote" failed in `prompt`: Error: no words (broken.mjs:',
  ],
  looping: ['next: () => { for (;;); }', 'failed in `next`: It did not return in time and was stopped'],
  asking: [
    `judges: { vote: { task: 'Vote', question: question({ name: 'vote', prompt: () => { for (;;); }, read: () => ({ output: {} }) }),
       input: () => ({ kind: 'values', values: {} }), take: (own, { failure }) => ({ said: failure.message }) } },
     next: ({ run, own }) => run.ending ? [] : own.said ? [{ do: 'decide', reading: { by: 'rounds', sufficient: true } }] : [{ do: 'judge', name: 'vote' }]`,
    'The question "vote" failed in `prompt`: It did not return in time',
  ],
  misinforming: [
    "task: () => ({ promt: 'Be brief.' }), next: ({ run }) => (run.ending ? [] : [{ do: 'dispatch', tasks: [{ id: 'x', capability: 'expert.general', task: 'Say it' }] }])",
    'failed in `task`: It returned an input with the member `promt`, which no task "expert.general" has',
  ],
  accepting: ["next: () => [{ do: 'accept', task: 't1' }]", 'the move "accept" names the task "t1", which does not exist'],
  becoming: ["next: () => [{ do: 'become', strategy: 'nowhere' }]", 'there is no strategy called "nowhere"'],
} as const;
writeFileSync(
  join(folder, 'broken.mjs'),
  `export default ({ strategy, question, capability }) => ({
    strategies: [${Object.entries(mistakes)
      .map(([id, [code]]) => `strategy({ id: '${id}', ${code} })`)
      .join(',\n')}],
    capabilities: [capability({
      name: 'careless',
      forPlanner: 'fails where nobody waits for it',
      async perform(_, { progress }) {
        progress('Half of it is done');
        setTimeout(() => { throw new Error('after the end'); }, 50);
        void Promise.reject(new Error('nobody waits'));
        return { facts: ['It is done.'] };
      },
    }), capability({
      name: 'spinning',
      forPlanner: 'never returns',
      async perform() { for (;;); },
    })],
  });`,
);

let system: System;
beforeAll(async () => {
  system = await System.start({
    configuration: {
      extension_timeout_s: 1,
      extensions: [...modules.map(({ name }) => name), ...own, 'broken.mjs'].map((name) => join(folder, name)),
      templates: {
        careful: { ...plainTemplate, strategy: 'second-look', options: { looks: 2 }, capabilities: ['tides'] },
        ...Object.fromEntries(Object.keys(mistakes).map((id) => [id, { ...plainTemplate, strategy: id }])),
        jury: { ...plainTemplate, strategy: 'jury' },
        parent: { ...plainTemplate, strategy: 'parent' },
        careless: { ...plainTemplate, capabilities: ['careless'] },
        spinning: { ...plainTemplate, capabilities: ['spinning'] },
      },
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

  it('are named with the version of their module where the system says how it is', async () => {
    const { extensions } = (await (await fetch(`${system.url()}/health/ready`)).json()) as {
      extensions: { name: string; version: string }[];
    };
    const version = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(extensions).toContainEqual({ kind: 'strategy', name: 'second-look', version });
    expect(extensions).toContainEqual({ kind: 'capability', name: 'tides', version });
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

  it('count the answers of equal tasks, in TypeScript that was compiled', async () => {
    const question = 'In which town was Anders Quill born?';
    for (const text of ['In Saint Orrin.', 'In Aldersund.', 'In Saint Orrin.'])
      system.models.add({ match: { system: 'You are an expert', user: question }, reply: { text } });
    const match = { system: 'Count which answer is given most often', user: question };
    system.models.add({ match, reply: { text: '{"winner": "Saint Orrin", "votes": 2}' } });
    const { body } = await ask(system.url(), { model: 'jury', messages: user(question) });
    expect(body.choices[0]!.message.content).toBe('Saint Orrin (2 votes)');
    expect(body.conclave).toMatchObject({ outcome: 'completed', calls: 4 });
  });

  it('start a run of another template, whose answer is a result', async () => {
    const s = new CommitteeScript(system.models, 'What is a tide?');
    s.plan([expert('x1', 'Say what a tide is.')])
      .expert('The sea rises.')
      .answer(['A rise of the sea.']);
    const { body } = await ask(system.url(), { model: 'parent', messages: user('Tell me about the sea.') });
    expect(body.choices[0]!.message.content).toContain('A rise of the sea.');
    const run = await readRun(system.url(), body.conclave!.run_id);
    expect(run.rounds[0]!.tasks).toMatchObject([{ capability: 'run', status: 'ok' }]);
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

  it('say what was wrong with the replies of a judge if none could be read', async () => {
    const s = new CommitteeScript(system.models, 'When is high tide in Brest, if nobody can say so?');
    s.plan([tides('t1', { harbour: 'Brest' })]).answer(['At 03:12.']);
    doubts(s.question, 'I doubt nothing.', 'Nothing at all.');
    const { body } = await ask(system.url(), { model: 'careful', messages: user(s.question) });
    const run = await readRun(system.url(), body.conclave!.run_id);
    expect(run.rounds[0]!.tasks.find(({ capability }) => capability === 'judge.doubt')).toMatchObject({
      status: 'error',
      failure: { code: 'PROVIDER_REPLY_INVALID', message: 'The reply could not be used: The reply is not JSON with "doubt".' },
    });
  });
});

describe('an extension with a mistake', () => {
  it.each(Object.entries(mistakes))('(%s) fails its own runs with a sentence, and nothing else', async (model, [, words]) => {
    const { status, body } = await ask(system.url(), { model, messages: user(`What does ${model} do?`) });
    const { error } = body as unknown as { error: { message: string } };
    expect(error.message).toContain(words);
    expect(status).toBeGreaterThanOrEqual(500);
    const listed = (await (await fetch(`${system.url()}/v1/runs?limit=1`)).json()) as { data: { id: string }[] };
    expect(await readRun(system.url(), listed.data[0]!.id)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(words) });
  });

  it('does not end the process if it fails where nobody waits for it', async () => {
    const s = new CommitteeScript(system.models, 'What does the careless one do?');
    s.plan([{ ...{ id: 't1', task: 'Do it', capability: 'careless' } }, expert('x1', 'Say what was done.')])
      .expert('It is done.')
      .answer(['It is done.']);
    const { body } = await ask(system.url(), { model: 'careless', messages: user(s.question) });
    const run = await readRun(system.url(), body.conclave!.run_id);
    expect(run.rounds[0]!.tasks[0]).toMatchObject({ capability: 'careless', status: 'ok', facts: 1 });
    const events = await (await fetch(`${system.url()}/v1/runs/${run.id}/events`)).text();
    expect(events).toContain('Half of it is done');
    // Longer than the timer of the module.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await fetch(`${system.url()}/health`)).status).toBe(200);
  });

  it('fails its task if its capability never returns, and the log names module and function', async () => {
    const s = new CommitteeScript(system.models, 'What does the spinning one do?');
    s.plan([{ ...{ id: 't1', task: 'Do it', capability: 'spinning' } }, expert('x1', 'Say what was done.')])
      .expert('Nothing is done.')
      .answer(['Nothing is done.']);
    const { body } = await ask(system.url(), { model: 'spinning', messages: user(s.question) });
    expect(body.choices[0]!.message.content).toContain('Nothing is done.');
    const run = await readRun(system.url(), body.conclave!.run_id);
    expect(run.rounds[0]!.tasks[0]).toMatchObject({
      ...{ capability: 'spinning', status: 'error' },
      failure: { message: expect.stringContaining('It did not return in time and was stopped') },
    });
    const logged = logText(system);
    for (const name of [
      'next of the strategy \\"looping\\"',
      'prompt of the question \\"vote\\"',
      'perform of the capability \\"spinning\\"',
    ])
      expect(logged).toContain(`did not return within 1 s and was stopped: ${name} (${join(folder, 'broken.mjs')})`);
  });
});

describe('an extension that loops where nobody can stop it', () => {
  it('is named in the log, its process ends and starts again, and after three deaths its run ends with a sentence', async () => {
    const path = join(folder, 'lost.mjs');
    writeFileSync(
      path,
      `export default ({ capability }) => ({
        capabilities: ['lost', 'careful'].map((name) => capability({
          name,
          forPlanner: 'loops after it has waited',
          repeatable: name === 'lost',
          async perform() { await new Promise((resolve) => setTimeout(resolve, 20)); for (;;); },
        })),
      });`,
    );
    const own = await System.start({
      configuration: {
        extensions: [path],
        extension_timeout_s: 0.2,
        templates: Object.fromEntries(['lost', 'careful'].map((id) => [id, { ...plainTemplate, capabilities: [id] }])),
      },
    });
    const deaths = () => own.process('experts').exits();
    try {
      // On a busy machine the record may still wait for a store after 150 ms, and a death of that time is not blamed on it before the seventh.
      for (const [name, died, most, sentence] of [
        ['lost', 3, 7, 'became a dead letter (killed_process)'],
        ['careful', 1, 1, 'not marked as safe to repeat'],
      ] as const) {
        const before = deaths().length;
        const s = new CommitteeScript(own.models, `What does the ${name} one find?`);
        s.plan([{ ...{ id: 't1', task: 'Look for it', capability: name } }, { ...expert('x1', 'Say what was found.'), needs: ['t1'] }])
          .expert('Nothing was found.')
          .answer(['Nothing was found.']);
        const { body } = await startRun(own.url(), { model: name, input: s.question });
        const run = await runEnd(own.url(), body.id, 120_000);
        expect(run.rounds[0]!.tasks[0]).toMatchObject({ capability: name, failure: { message: expect.stringContaining(sentence) } });
        expect(run).toMatchObject({ answer: expect.stringContaining('Nothing was found.') });
        const signals = deaths()
          .slice(before)
          .map(({ signal }) => signal);
        expect(new Set(signals)).toEqual(new Set(['SIGALRM']));
        expect(signals.length).toBeGreaterThanOrEqual(died);
        expect(signals.length).toBeLessThanOrEqual(most);
        expect(logText(own)).toContain(`is ended: perform of the capability \\"${name}\\" (${path})`);
      }
      const s = new CommitteeScript(own.models, 'Does another run still work?');
      s.plan([expert('x1', 'Say so.')])
        .expert('It does.')
        .answer(['It does.']);
      const { body } = await ask(own.url(), { model: 'lost', messages: user(s.question) });
      expect(body.choices[0]!.message.content).toContain('It does.');
    } finally {
      await own.stop();
    }
  }, 300_000);
});
