import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunView } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import {
  ChatStream,
  command,
  CommitteeScript,
  System,
  inventedName,
  latch,
  plainTemplate,
  readRun,
  startRun,
  user,
} from '@conclave/test-support/system';

const [dyes, ports] = [
  [inventedName(), inventedName()],
  [inventedName(), inventedName()],
] as const;
const corpus = {
  'dye-one.md': `# ${dyes[0]}\n\nThe dye ${dyes[0]} is made of lichen and costs 14 crowns a pound.\n`,
  'dye-two.md': `# ${dyes[1]}\n\nThe dye ${dyes[1]} is made of snails and costs 90 crowns a pound.\n`,
  'port-one.md': `# ${ports[0]}\n\nThe port of ${ports[0]} can take ships with a draught of 7 metres.\n`,
};
const caches = { answer: false, semantic: false, plan: false, search: true };
const shared = { ...plainTemplate, capabilities: ['research'], caches };

let system: System;
beforeAll(async () => {
  system = await System.start({
    corpus,
    configuration: {
      templates: {
        parts: { ...shared, strategy: 'decompose' },
        // A chain of child runs, three generations deep; the last one works on its sub-topics itself.
        answers: { ...shared, strategy: 'single-pass', complexity: 'trivial', capabilities: [] },
        tree: { ...shared, strategy: 'decompose', options: { child: 'answers' } },
        adaptive: { ...shared, strategy: 'adaptive', complexity: 'moderate', max_agentic_rounds: 1 },
        deep: { ...shared, strategy: 'decompose', options: { child: 'deep', max_topics: 2 } },
      },
    },
  });
});
afterAll(() => system?.stop());
afterEach(() => expect(system.models.violations()).toEqual([]));

const topic = (name: string, query: string) => ({ topic: name, query, collections: [] });
const url = (): string => system.url();

async function answered(s: CommitteeScript, model: string): Promise<{ answer: string; run: RunView }> {
  const chat = await (await ChatStream.open(url(), { model, messages: user(s.question) })).end();
  if (chat.error) throw new Error(`${chat.runId}: ${JSON.stringify(chat.error)}`);
  return { answer: chat.content, run: await readRun(url(), chat.runId) };
}

describe('decompose', () => {
  it('researches sub-topics at the same time and compares them, with citations to what was found', async () => {
    const together = latch();
    const s = new CommitteeScript(system.models, `Which dye is cheaper, ${dyes[0]} or ${dyes[1]}?`);
    const reading = (text: string) => ({
      chunks: [{ text: JSON.stringify({ facts: [{ fact: text, source: 1 }] }), when: together.opened }],
    });
    s.topics({
      topics: [topic(`Price of ${dyes[0]}`, `${dyes[0]} dye price`), topic(`Price of ${dyes[1]}`, `${dyes[1]} dye price`)],
      synthesis: 'compare',
    })
      .facts(`Price of ${dyes[0]}`, reading(`${dyes[0]} costs 14 crowns.`))
      .facts(`Price of ${dyes[1]}`, reading(`${dyes[1]} costs 90 crowns.`))
      .answer([`${dyes[0]} costs 14 crowns [1], the other 90 [2].`]);
    const asked = answered(s, 'parts');
    // Both are read before one of them is answered.
    await until('both sub-topics are read', () => s.calls('topicReader').length === 2);
    together.open();
    const { answer, run } = await asked;
    expect(answer).toMatch(/14 crowns \[\d\][^]*Sources:/);
    expect(run).toMatchObject({ outcome: 'completed', rule: 'D6', template: { strategy: 'decompose' } });
    expect(run.rounds[0]!.tasks.map(({ capability, status }) => [capability, status])).toEqual([
      ['subtopic', 'ok'],
      ['subtopic', 'ok'],
      ['judge.synthesis', 'ok'],
    ]);
    expect(String(s.calls('composer')[0]!.messages.map(({ content }) => content))).toMatch(/SUB-TOPICS:[^]*Price of/);
    expect(s.unused()).toEqual([]);
  });

  it('says which sub-topic failed and which found nothing', async () => {
    const nowhere = `${inventedName()}${inventedName()}`;
    const s = new CommitteeScript(system.models, `What do ${dyes[0]}, ${nowhere} and the port of ${ports[0]} cost?`);
    s.topics({ topics: [topic('the dye', `${dyes[0]} price`), topic('the unknown', nowhere), topic('the port', `${ports[0]} port`)] })
      .facts('the dye', [{ fact: `${dyes[0]} costs 14 crowns.`, source: 1 }])
      .facts('the port', { status: 400, body: { error: { message: 'no', type: 'invalid_request_error' } } }, 9)
      .answer(['14 crowns [1].']);
    const { answer } = await answered(s, 'parts');
    expect(answer).toMatch(/Not covered:\n- the port: the research failed \([^]*\n- the unknown: nothing was found/);
  });

  it('ends properly whatever the planner says: garbage, 500 sub-topics, equal ones', async () => {
    const garbage = new CommitteeScript(system.models, `What is the dye ${dyes[0]} made of, in a word?`);
    garbage
      .topics({ text: 'I would rather not.' }, 3)
      .facts('What is the dye', [{ fact: 'Lichen.', source: 1 }])
      .answer(['Lichen [1].']);
    expect((await answered(garbage, 'parts')).run.outcome).toBe('completed');
    expect(garbage.calls('decomposer')).toHaveLength(3);
    const many = new CommitteeScript(system.models, `What are all the dyes that are like ${dyes[1]}?`);
    many.topics({
      topics: Array.from({ length: 500 }, (_, n) => ({
        id: 'same',
        needs: ['same'],
        ...topic(`part ${n % 400}`, `${dyes[1]} ${n % 400}`),
      })),
    });
    for (const n of [0, 1, 2, 3]) many.facts(`part ${n}`, [{ fact: `${dyes[1]} is dear (${n}).`, source: 1 }]);
    many.answer(['Dear [1].']);
    const { run } = await answered(many, 'parts');
    expect(run.rounds[0]!.tasks.filter(({ capability }) => capability === 'subtopic')).toHaveLength(4);
  });

  it('calls the model once for equal sub-topics of different runs, even at the same time', async () => {
    const query = `${dyes[1]} snails price`;
    const question = (n: number) => `Asked ${n} times: what is the price of ${dyes[1]}?`;
    const scripts = [1, 2, 3].map((n) => {
      const s = new CommitteeScript(system.models, question(n));
      return s.topics({ topics: [topic('the price of snail dye', query)] }).answer([`90 crowns [1].`]);
    });
    scripts.forEach((s) => s.facts('the price of snail dye', [{ fact: 'It costs 90 crowns.', source: 1 }], Infinity));
    const ended = await Promise.all(scripts.map((s) => answered(s, 'parts')));
    expect(ended.map(({ run }) => run.outcome)).toEqual(['completed', 'completed', 'completed']);
    expect(scripts.flatMap((s) => s.calls('topicReader'))).toHaveLength(1);
  });
});

describe('child runs', () => {
  it('work on sub-topics on the budget of their parent, which is charged with their usage', async () => {
    const s = new CommitteeScript(system.models, `How deep is ${ports[0]}, and how dear is ${dyes[0]}?`);
    s.topics({
      topics: [topic('depth', `How deep is the port of ${ports[0]}?`), topic('price', `How dear is the dye ${dyes[0]}?`)],
    }).answer(['7 metres; 14 crowns.']);
    const depth = new CommitteeScript(system.models, `How deep is the port of ${ports[0]}?`).expert('7 metres.', { confidence: 0.9 });
    const price = new CommitteeScript(system.models, `How dear is the dye ${dyes[0]}?`).expert('14 crowns.', { confidence: 0.9 });
    const { run, answer } = await answered(s, 'tree');
    expect([run.outcome, answer]).toEqual(['completed', expect.stringContaining('7 metres; 14 crowns.')]);
    const tasks = run.rounds[0]!.tasks.filter(({ capability }) => capability === 'run');
    expect(tasks.map(({ status, usage }) => [status, usage.calls])).toEqual([
      ['ok', 1],
      ['ok', 1],
    ]);
    expect(run.usage.total.calls).toBe(4);
    const child = await readRun(url(), `${run.id}~0.t1`);
    expect(child).toMatchObject({ outcome: 'completed', template: { id: 'answers' }, usage: { total: { calls: 1 } } });
    expect(child.limits.model_calls).toBeLessThan(run.limits.model_calls);
    expect([...depth.unused(), ...price.unused()]).toEqual([]);
  });

  it('have the documents of the request, which their parent has once', async () => {
    const s = new CommitteeScript(system.models, `How deep is ${ports[0]} by the note, and how dear is ${dyes[0]}?`);
    s.topics({ topics: [topic('depth', `How deep is ${ports[0]} by the note?`), topic('price', `How dear is ${dyes[0]} by the note?`)] });
    s.answer(['9 metres [1]; 14 crowns.']);
    const depth = new CommitteeScript(system.models, `How deep is ${ports[0]} by the note?`).expert('9 metres [1].', { confidence: 0.9 });
    const price = new CommitteeScript(system.models, `How dear is ${dyes[0]} by the note?`).expert('14 crowns.', { confidence: 0.9 });
    const note = `<source id="1" name="note.md">The port of ${ports[0]} is 9 metres deep.</source>`;
    const messages = user(`<context>\n${note}\n</context>\n\n${s.question}`);
    const chat = await (await ChatStream.open(url(), { model: 'tree', messages })).end();
    expect([chat.content, ...depth.unused(), ...price.unused()]).toEqual([expect.stringContaining('9 metres [1]; 14 crowns.')]);
    const shown = [...depth.calls(), ...price.calls()].map(({ messages: sent }) => sent.map(({ content }) => String(content)).join('\n'));
    expect(shown).toHaveLength(2);
    for (const text of shown) expect(text).toContain(`[1] The port of ${ports[0]} is 9 metres deep. — note.md`);
    expect((await readRun(url(), chat.runId)).sources.map(({ n, title }) => [n, title])).toEqual([[1, 'note.md']]);
  });

  it('go three generations deep, and end with their root when it is cancelled', async () => {
    const held = latch();
    const [root, one, two, three] = ['root', 'one', 'two', 'three'].map(
      (name) => `Level ${name} of ${inventedName()}, what is ${dyes[0]}?`,
    );
    const ask3 = (question: string, next: string) =>
      new CommitteeScript(system.models, `QUESTION: ${question}`).topics({ topics: [topic(`under ${question.split(' ')[1]}`, next)] });
    ask3(root!, one!);
    ask3(one!, two!);
    ask3(two!, three!);
    const last = new CommitteeScript(system.models, `QUESTION: ${three!}`).topics({ topics: [topic('the dye', `${dyes[0]} dye`)] });
    last.facts('the dye', { chunks: [{ text: '{"facts": []}', when: held.opened }] });
    const { id } = (await startRun(url(), { model: 'deep', input: root! })).body;
    await until('the last generation reads', () => last.calls('topicReader').length === 1, { timeoutMs: 30_000 });
    const generations = [id, `${id}~0.t1`, `${id}~0.t1~0.t1`, `${id}~0.t1~0.t1~0.t1`];
    expect(
      (await Promise.all(generations.map((run) => readRun(url(), run)))).map(({ terminal, limits }) => [terminal, limits.model_calls]),
    ).toEqual([
      [false, expect.any(Number)],
      [false, expect.any(Number)],
      [false, expect.any(Number)],
      [false, expect.any(Number)],
    ]);
    const calls = (await Promise.all(generations.map((run) => readRun(url(), run)))).map(({ limits }) => limits.model_calls);
    expect([...calls].sort((a, b) => b - a)).toEqual(calls);
    expect((await command(url(), id, { command: 'cancel', reason: 'enough' })).status).toBe(202);
    await until(
      'all generations have ended',
      async () => (await Promise.all(generations.map((run) => readRun(url(), run)))).every(({ terminal }) => terminal),
      { timeoutMs: 20_000 },
    );
    expect((await Promise.all(generations.map((run) => readRun(url(), run)))).map(({ outcome }) => outcome)).toEqual(
      Array(4).fill('cancelled'),
    );
    held.open();
    expect(last.calls('topicReader')).toHaveLength(1);
  });
});

describe('adaptive', () => {
  it('answers a fact in one pass, without a call of the router', async () => {
    const s = new CommitteeScript(system.models, `Who makes the dye ${dyes[0]}?`);
    s.plan([{ id: 'r1', task: 'find it', capability: 'research', search_query: `${dyes[0]} dye` }]).answer(['Lichen [1].']);
    const { run } = await answered(s, 'adaptive');
    expect(run).toMatchObject({ outcome: 'completed', rule: 'D6', template: { strategy: 'adaptive' }, usage: { total: { calls: 2 } } });
    expect(s.calls('classifier')).toHaveLength(0);
  });

  it('splits a comparison into its sub-topics', async () => {
    const s = new CommitteeScript(system.models, `Compare the prices of ${dyes[0]} and ${dyes[1]}.`);
    s.topics({ topics: [topic('one price', `${dyes[0]} price`), topic('other price', `${dyes[1]} price`)], synthesis: 'compare' })
      .facts('one price', [{ fact: `${dyes[0]} costs 14 crowns.`, source: 1 }])
      .facts('other price', [{ fact: `${dyes[1]} costs 90 crowns.`, source: 1 }])
      .answer(['14 against 90 [1].']);
    const { run } = await answered(s, 'adaptive');
    expect(run.outcome).toBe('completed');
    expect(run.rounds[0]!.tasks.map(({ capability }) => capability)).toEqual(['subtopic', 'subtopic', 'judge.synthesis']);
  });

  it('asks the router when the words do not decide, and plans again with the chosen strategy', async () => {
    const s = new CommitteeScript(system.models, `The snails of ${dyes[1]}, and what the winter does to them.`);
    s.route('comparative')
      .topics({ topics: [topic('the snails', `${dyes[1]} snails`)] })
      .facts('the snails', [{ fact: 'They are dear.', source: 1 }])
      .answer(['Dear [1].']);
    const { run } = await answered(s, 'adaptive');
    expect(run.outcome).toBe('completed');
    expect(run.rounds.map(({ epoch, tasks }) => [epoch, tasks.length])).toEqual([
      [0, 0],
      [1, 2],
    ]);
    expect(s.unused()).toEqual([]);
  });

  it('uses the loop when the reply of the router cannot be read', async () => {
    const s = new CommitteeScript(system.models, `The lichen of ${dyes[0]}, its seasons and its keepers.`);
    s.route({ text: 'Hm.' }, 2)
      .plan([{ id: 'r1', task: 'find it', capability: 'research', search_query: `${dyes[0]} lichen` }])
      .complete()
      .answer(['Lichen [1].']);
    const { run } = await answered(s, 'adaptive');
    expect(run).toMatchObject({ outcome: 'completed', rule: 'D3' });
    expect(s.calls('classifier')).toHaveLength(2);
  });
});
