import { describe, expect, it } from '@jest/globals';
import {
  ask,
  ChatStream,
  CommitteeScript,
  type System,
  expert,
  plainTemplate,
  readRun,
  runEnd,
  runEvents,
  startRun,
  type TwoHops,
  research,
  user,
} from '@conclave/test-support/system';
import { describeOnce } from '../harness/describe-once.js';

/** One template for each part of the pipeline, so that nothing else costs a call. */
export const pipelineTemplates = {
  sorted: { ...plainTemplate, strategy: 'single-pass', complexity: 'auto' },
  tiers: {
    ...plainTemplate,
    strategy: 'single-pass',
    complexity: 'auto',
    experts: { general: { t1: ['scripted@fake'], t2: ['other@fake'] } },
  },
  refines: { ...plainTemplate, strategy: 'single-pass', refine_rounds: 1 },
  thinks: { ...plainTemplate, strategy: 'single-pass', complexity: 'complex', thinking: true },
  reviews: { ...plainTemplate, strategy: 'single-pass', critic: ['legal_advisor'] },
  recalls: { ...plainTemplate, strategy: 'single-pass', capabilities: ['graph', 'research'] },
  calculates: { ...plainTemplate, strategy: 'single-pass', capabilities: ['math'] },
} as const;

/** The answer as text, and the run that produced it. */
async function answered(url: string, body: object): Promise<{ answer: string; runId: string }> {
  const { status, headers, body: completion } = await ask(url, body);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(completion)}`);
  return { answer: String(completion.choices[0]!.message.content), runId: headers.get('x-run-id')! };
}

const long = 'The contract may be ended within fourteen days of its conclusion; the notice has to reach the other side in writing by then.';

/** What happens between a question and its answer besides the loop: levels, tiers, refinement, thinking, review, calculation. */
export function pipelineScenarios(system: () => System, hops: TwoHops): void {
  const script = (question: string): CommitteeScript => new CommitteeScript(system().models, question);
  const modelsAsked = (s: CommitteeScript): readonly string[] => s.calls().map(({ model }) => model);

  describeOnce('a trivial question', () => {
    it('takes one expert and one model call, and streams as it is written', async () => {
      const s = script('What is a quokka?').expertReply({ chunks: [{ text: 'A small ' }, { text: 'wallaby.' }] });
      const chat = await ChatStream.open(system().url(), { model: 'sorted', messages: user(s.question) });
      await chat.end();
      expect(chat.content).toBe('A small wallaby.');
      expect(s.calls().map(({ model }) => model)).toEqual(['scripted']);
      expect(s.unused()).toEqual([]);
    });

    it('goes to the second tier when the first one is unsure, and shows no text of the first', async () => {
      const s = script('What is a bilby?')
        .expert('Perhaps a bird.', { confidence: 0.3 })
        .expertReply({ text: 'A desert marsupial.\nCONFIDENCE: 95 %' });
      const chat = await ChatStream.open(system().url(), { model: 'tiers', messages: user(s.question) });
      await chat.end();
      expect(chat.content).toBe('A desert marsupial.');
      expect(modelsAsked(s)).toEqual(['scripted', 'other']);
      expect(chat.reasoning).toContain('is unsure (0.3, needs 0.65): a model of the second tier is asked');
    });

    it('is still planned when a tool can answer it', async () => {
      const s = script('How much is 17.5 % of 2,340?')
        .plan([expert('x1', 'Calculate it.')])
        .expert('409.5', { confidence: 0.9 });
      const { answer } = await answered(system().url(), { model: 'sorted', messages: user(s.question) });
      expect(answer).toBe('409.5');
      expect(s.calls('planner')).toHaveLength(1);
    });
  });

  describe('a question that is not in English', () => {
    const lastLines = (s: CommitteeScript): readonly (string | undefined)[] =>
      s.calls().map(({ messages }) => String(messages.at(-1)!.content).split('\n').at(-1));

    it('is planned, each prompt about it ends with its language, and what Conclave adds to the answer is in it, too', async () => {
      const s = script('¿Quién descubrió el bilbí y en qué año?')
        .plan([expert('x1', 'Decir quién lo descubrió.'), expert('x2', 'Decir el año.')])
        .expert('Alguien.', { confidence: 0.9, task: 'Decir quién lo descubrió.' })
        .expert('En 1837.', { confidence: 0.9, task: 'Decir el año.' })
        .answer(['Alguien, en 1837 [7].']);
      const { answer } = await answered(system().url(), { model: 'sorted', messages: user(s.question) });
      expect(answer).toBe('Alguien, en 1837 [7].\n\nNo figura en la fuente citada:\n- [7]: esa fuente no existe');
      const answering = 'LANGUAGE: Spanish. Answer in Spanish, unless the question asks for another language.';
      const marked = `${answering} Keep the words FINDING, CONFIDENCE, GAPS and REFER.`;
      expect(lastLines(s)).toEqual([expect.stringMatching(/^LANGUAGE: Spanish. Write the tasks in Spanish/), marked, marked, answering]);
    });

    it('is shown in place of the name if its language is not certain, and a short turn has that of the turn before', async () => {
      const s = script('Berapa panjang sungai bilbi di pulau itu?')
        .plan([expert('x1', 'Jawab.')])
        .expert('Sepuluh.', { confidence: 0.9 });
      await answered(system().url(), { model: 'sorted', messages: user(s.question) });
      expect(lastLines(s)[1]).toContain(`LANGUAGE: Answer in the language of "${s.question}".`);
      const short = script('И почему?')
        .plan([expert('x1', 'Ответить.')])
        .expert('Так вышло.', { confidence: 0.9 });
      const turns = [...user('Где живёт медведь зимой?'), { role: 'assistant', content: 'В пустыне.' }, ...user(short.question)];
      await answered(system().url(), { model: 'sorted', messages: turns });
      expect(lastLines(short)[1]).toMatch(/^LANGUAGE: Russian\./);
    });
  });

  describeOnce('the level that a request names', () => {
    it('is followed for a chat, whatever the words say: a short question is planned, a long one answered by one expert', async () => {
      const short = script('What is a numbat?')
        .plan([expert('x1', 'Say what it is.')])
        .expert('An anteater.', { confidence: 0.9 });
      const planned = await answered(system().url(), {
        model: 'sorted',
        messages: user(short.question),
        conclave: { complexity: 'moderate' },
      });
      expect([planned.answer, short.calls('planner').length]).toEqual(['An anteater.', 1]);
      expect(await readRun(system().url(), planned.runId)).toMatchObject({ complexity: 'moderate' });

      const lengthy = script(`Compare both laws, step by step, and say why they differ: ${long} (named trivial)`).expertReply({
        text: 'They do.',
      });
      const once = await answered(system().url(), {
        model: 'sorted',
        messages: user(lengthy.question),
        conclave: { complexity: 'trivial' },
      });
      expect([once.answer, lengthy.calls().length]).toEqual(['They do.', 1]);
      expect(await readRun(system().url(), once.runId)).toMatchObject({ complexity: 'trivial' });
    });

    it('is followed for a run, from the body or the header, and overrides the level of the template', async () => {
      for (const [how, body, headers] of [
        ['body', { conclave: { complexity: 'complex' } }, {}],
        ['header', {}, { 'x-conclave-complexity': 'complex' }],
      ] as const) {
        const s = script(`What is a potoroo? (${how})`)
          .plan([expert('x1', 'Say what it is.')])
          .expert('A marsupial.', { confidence: 0.9 });
        const { id } = (await startRun(system().url(), { model: 'conclave-fast', input: s.question, ...body }, headers)).body;
        expect(await runEnd(system().url(), id)).toMatchObject({ complexity: 'complex', outcome: 'completed' });
      }
    });

    it('is one of three words, or the request is refused', async () => {
      const refused = await startRun(system().url(), { model: 'sorted', input: 'x', conclave: { complexity: 'hard' } });
      expect([refused.status, refused.body.error]).toMatchObject([
        400,
        { param: 'conclave.complexity', message: expect.stringContaining('"trivial", "moderate" or "complex"') },
      ]);
      const header = await startRun(system().url(), { model: 'sorted', input: 'x' }, { 'x-conclave-complexity': 'hard' });
      expect([header.status, header.body.error?.param]).toEqual([400, 'x-conclave-complexity']);
    });
  });

  describeOnce('an answer that the model cut off at its token limit', () => {
    const cut = { text: 'It is a small', finish: 'length' } as const;

    it.each(['streamed', 'whole'] as const)("ends with the model's finish reason when one expert gave the answer, %s", async (how) => {
      const trivial = script(how === 'whole' ? 'What is a numbat?' : 'What is a potoroo?').expertReply(cut);
      const sure = script(`Compare two sides of one coin (cut, ${how})`)
        .plan([expert('x1', 'Say it.')])
        .expertReply({ text: 'CONFIDENCE: 0.9\nIt is a small', finish: 'length' });
      for (const [s, model] of [
        [trivial, 'sorted'],
        [sure, 'refines'],
      ] as const) {
        const body = { model, messages: user(s.question) };
        if (how === 'whole') {
          const { body: completion } = await ask(system().url(), body);
          expect(completion.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'It is a small' } });
        } else {
          const chat = await (await ChatStream.open(system().url(), body)).end();
          expect(chat.content).toBe('It is a small');
          expect(chat.chunks.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean)).toEqual(['length']);
        }
        expect(s.calls('composer')).toHaveLength(0);
      }
    });
  });

  describeOnce('a model that repeats its prompt', () => {
    it('never shows the marks of quoted data, however its stream is cut, nor a citation without a fact', async () => {
      const s = script('Is the sky blue at noon (repeated prompt)?')
        .plan([expert('x1', 'Say it.')])
        .expert('The sky is blue.')
        .answer(['<<', '<DA', 'TA\ngeneral (confi', 'dence 0.6): The sky ', 'is blue [1].\nDATA>', '>>']);
      const chat = await (await ChatStream.open(system().url(), { model: 'calculates', messages: user(s.question) })).end();
      expect(chat.content.trim()).toBe('The sky is blue [1].\n\nNot found in the cited source:\n- [1]: there is no such source');
      expect((await readRun(system().url(), chat.runId)).answer).toBe(chat.content);
    });

    it('does not show them either when one expert answers', async () => {
      const s = script('What is a quoll?').expertReply({ chunks: [{ text: '<<<DA' }, { text: 'TA\nA small' }, { text: ' marsupial.' }] });
      const chat = await (await ChatStream.open(system().url(), { model: 'sorted', messages: user(s.question) })).end();
      expect(chat.content).toBe('A small marsupial.');
    });
  });

  describeOnce('one sure expert without evidence', () => {
    it('is the answer without merging', async () => {
      const s = script('Compare nothing with itself (fast path)')
        .plan([expert('x1', 'Say it.')])
        .expert('It is the same.', { confidence: 0.9 });
      const { answer, runId } = await answered(system().url(), { model: 'refines', messages: user(s.question) });
      expect(answer).toBe('It is the same.');
      expect(s.calls('composer')).toHaveLength(0);
      const run = await readRun(system().url(), runId);
      expect(run.usage.total.calls).toBe(2);
    });
  });

  describeOnce('two tasks of one category', () => {
    it('are parts of one answer: the composer gets both whole', async () => {
      const s = script('How do I clean kitchen and bathroom (two parts)?')
        .plan([expert('x1', 'Clean the kitchen'), expert('x2', 'Clean the bathroom')])
        .expertReply({ text: 'Empty it.\nMop it.\nFINDING: Kitchen: two steps.\nCONFIDENCE: 0.9' }, 'Clean the kitchen')
        .expertReply({ text: 'Spray it.\nScrub it.\nFINDING: Bathroom: two steps.\nCONFIDENCE: 0.8' }, 'Clean the bathroom')
        .answer(['Both.']);
      await answered(system().url(), { model: 'calculates', messages: user(s.question) });
      const prompt = s
        .calls('composer')[0]!
        .messages.map(({ content }) => String(content))
        .join('\n');
      for (const part of ['Empty it.\nMop it.', 'Spray it.\nScrub it.']) expect(prompt).toContain(part);
    });

    it('that calculate different things are both calculated', async () => {
      const sum = (id: string, expression: string) => ({
        id,
        task: 'Calculate it',
        capability: 'math',
        mcp_tool: 'evaluate',
        mcp_args: { expression },
      });
      const s = script('What is 1200 with and without 19 % (two sums)?')
        .plan([sum('m1', '1200*1.19'), sum('m2', '1200/1.19'), expert('x1', 'Say both.')])
        .expert('Both.')
        .answer(['1428 [1] and 1008.40 [2].']);
      const { runId } = await answered(system().url(), { model: 'calculates', messages: user(s.question) });
      const { tasks } = (await readRun(system().url(), runId)).rounds[0]!;
      expect(tasks.filter(({ capability }) => capability === 'math').map(({ status, facts }) => [status, facts])).toEqual([
        ['ok', 1],
        ['ok', 1],
      ]);
      const prompt = s
        .calls('expert')[0]!
        .messages.map(({ content }) => String(content))
        .join('\n');
      for (const result of ['1428', '1008.4']) expect(prompt).toContain(result);
    });
  });

  describeOnce('an unsure expert', () => {
    const asked = (question: string, after: number) =>
      script(question)
        .plan([expert('x1', 'Say how high it is.')])
        .expertReply({ text: 'Quite high.\nFINDING: Quite high.\nCONFIDENCE: low' }, undefined, 1)
        .judge('adviser', { hints: [{ task: 'x1', hint: 'Give the height in metres.' }] })
        .expertReply({ text: 'It is 300 m high.\nFINDING: 300 m.\nCONFIDENCE: high' }, 'HINTS OF THE JUDGE:')
        .judge('scorer', { scores: [{ task: 'x1~r1', a: 0.4, b: after }] });

    it('is asked again with hints, and the better answer is used with its delta', async () => {
      const s = asked('How high is the tower of glass and iron (refined)?', 0.9);
      const chat = await ChatStream.open(system().url(), { model: 'refines', messages: user(s.question) });
      await chat.end();
      expect(chat.content).toBe('It is 300 m high.');
      expect(chat.reasoning).toContain('general +0.5');
    });

    it('keeps its answer when the new one is not better, however different it is', async () => {
      const s = asked('How high is the tower of stone and wood (not refined)?', 0.4).answer(['Quite high, it is said.']);
      const { answer } = await answered(system().url(), { model: 'refines', messages: user(s.question) });
      expect(answer).toBe('Quite high, it is said.');
      const prompt = s
        .calls('composer')[0]!
        .messages.map(({ content }) => String(content))
        .join('\n');
      expect(prompt).toContain('Quite high.');
      expect(prompt).not.toContain('300 m');
    });
  });

  describeOnce('a complex question', () => {
    it('is thought through before its answer is written', async () => {
      const s = script('Weigh two ways of crossing the strait (thinking)')
        .plan([expert('x1', 'Weigh them.')])
        .expert('The ferry is slower.')
        .judge('thinker', 'CONCLUSION: take the bridge.')
        .answer(['Take the bridge.']);
      const { answer } = await answered(system().url(), { model: 'thinks', messages: user(s.question) });
      expect(answer).toBe('Take the bridge.');
      expect(
        s
          .calls('composer')[0]!
          .messages.map(({ content }) => String(content))
          .join('\n'),
      ).toContain('CONCLUSION: take the bridge.');
    });
  });

  describeOnce('an answer on a safety-critical topic', () => {
    const reviewed = (question: string, verdict: string | object, times?: number) =>
      script(question)
        .plan([expert('x1', 'Say what the law says.', 'legal_advisor')])
        .expert('Fourteen days.')
        .answer([long])
        .judge('critic', verdict, times);

    it('is shown only as approved or corrected by the critic', async () => {
      const corrected = long.replace('fourteen', 'thirty');
      const s = reviewed('May this contract be ended (corrected)?', { verdict: 'corrected', reasons: ['wrong period'], answer: corrected });
      const chat = await ChatStream.open(system().url(), { model: 'reviews', messages: user(s.question) });
      await chat.end();
      expect(chat.content).toBe(corrected);
      expect(chat.reasoning).not.toContain('fourteen days of its conclusion');
    });

    it('stays as it is when no verdict can be read in three replies, and says so', async () => {
      const s = reviewed('May this contract be ended (unreadable)?', 'It looks fine to me.', 3);
      const { answer } = await answered(system().url(), { model: 'reviews', messages: user(s.question) });
      expect(answer.startsWith(long)).toBe(true);
      expect(answer).toContain('a review whose verdict could not be read');
      expect(s.calls('critic')).toHaveLength(3);
    });
  });

  describe('a question of characters that are special to databases', () => {
    it('is treated as plain text by the knowledge graph, which answers, and by the search, which finds the same as before', async () => {
      const signs = `'} ) DETACH DELETE n // "; DROP TABLE document; -- + - && || ! ( ) { } [ ] ^ " ~ * ? : \\ / $tenant`;
      const found = async (question: string, query: string) => {
        const s = script(question)
          .plan([{ id: 'g1', task: query, capability: 'graph' }, research('r1', query), expert('x1', 'Say it.')])
          .expert('It is said.')
          .answer(['It is said.']);
        const { runId } = await answered(system().url(), { model: 'recalls', messages: user(s.question) });
        const { tasks } = (await readRun(system().url(), runId)).rounds[0]!;
        return tasks.flatMap(({ capability, status, facts }) =>
          capability === 'graph' ? [status] : capability === 'research' ? [status, facts > 0] : [],
        );
      };
      expect(await found(`What is ${signs}?`, `${signs} ${hops.thing}`)).toEqual(['ok', 'ok', true]);
      expect(await found('Is it all still there?', hops.thing)).toEqual(['ok', 'ok', true]);
    });
  });

  describeOnce('a calculation', () => {
    it('is made exactly, and its result is evidence that names the back end', async () => {
      const s = script('Which x solves three times x plus five equals twenty (math)?')
        .plan([
          { id: 'm1', task: 'Solve it', capability: 'math', mcp_tool: 'solve', mcp_args: { expression: '3*x + 5 = 20', variable: 'x' } },
          expert('x1', 'Say it.'),
        ])
        .expert('It is five.')
        .answer(['x is 5 [1].']);
      const { answer, runId } = await answered(system().url(), { model: 'calculates', messages: user(s.question) });
      expect(answer).toMatch(/^x is 5 \[1\]\./);
      expect(answer).toMatch(/Sources:\n\[1\] (SymPy|Compute Engine)/);
      const entries = await runEvents(system().url(), runId);
      expect(JSON.stringify(entries)).toContain('mcp.result');
    });
  });
}
