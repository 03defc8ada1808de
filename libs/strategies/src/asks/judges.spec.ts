import { describe, expect, it } from '@jest/globals';
import type { Ask, ParsedReply } from './ask.js';
import { criticAsk } from './critic.js';
import { gapAsk } from './gap.js';
import { hintsAsk } from './hints.js';
import { scoreAsk } from './score.js';
import { synthesisAsk } from './synthesis.js';
import { thinkingAsk } from './thinking.js';

const readBy =
  <In, Out>(ask: Ask<In, Out>, input: In) =>
  (text: string, cutShort = false): ParsedReply<Out> => {
    const reading = ask.read({ text, cutShort }, input);
    if ('output' in reading) expect(ask.output.parse(reading.output)).toEqual(reading.output);
    return reading;
  };

const answer = (local: string) => ({ taskId: `run_00000001/0/${local}`, category: 'general', task: 'Say it.', text: 'It.', gaps: [] });
const hints = readBy(hintsAsk, { kind: 'hints', question: 'Q', answers: [answer('x1'), answer('x2')] });
const pair = (local: string) => ({ taskId: `run_00000001/0/${local}`, category: 'general', task: 'Say it.', before: 'old', after: 'new' });
const scores = readBy(scoreAsk, { kind: 'score', question: 'Q', pairs: [pair('x1~r1'), pair('x2~r1')] });
const fact = {
  text: 'Half of it.',
  source: { kind: 'corpus' as const, title: 'Leaflet', url: null },
  taskId: 't',
  epoch: 0,
  confidence: null,
};
const critique = readBy(criticAsk, {
  kind: 'critic',
  question: 'Q',
  system: null,
  answer: 'All of it.',
  facts: [fact],
  categories: ['health'],
});

describe('an answer that is JSON because the client asked for it in words', () => {
  // As metrics of DeepEval 4.3.1 ask, which send no `response_format`.
  const question =
    'IMPORTANT: Please make sure to only return in JSON format, with the "verdicts" key as a list of numbers. No words or explanation is needed.\n\nText:\nAll of it.\n\nJSON:';
  const input = synthesisAsk.input.parse({
    ...{ kind: 'synthesis', question, conversation: [], system: null, facts: [fact], answers: [], failed: [], openGap: null },
    ...{ parameters: {}, startedOn: '2026-01-02', onlyKnown: true },
  });
  const written = ['{"verdicts": [7], "reason": "It says so [1]"}', '```json\n{"verdicts": [7, 12], "reason": "It says so [1]"}\n```'];

  it.each(written)('stays as it was written, without sources below it: %j', (text) => {
    expect(readBy(synthesisAsk, input)(text)).toMatchObject({ output: { text, sources: [{ n: 1 }] } });
    const shown = synthesisAsk.show!(input);
    expect([...text].map((letter) => shown.push(letter)).join('') + shown.end()).toBe(text);
  });

  it('has its sources below it if it is more than JSON', () => {
    const text = 'So it returns `{"verdicts": []}` [1].';
    expect(readBy(synthesisAsk, input)(text)).toMatchObject({ output: { text: expect.stringContaining('Sources:') } });
  });

  it('stays JSON when the critic corrects it', () =>
    expect(critique(JSON.stringify({ verdict: 'corrected', reasons: ['x'], answer: written[0] }))).toMatchObject({
      output: { verdict: 'corrected', text: written[0] },
    }));
});

describe('an answer from what the model itself knows', () => {
  const input = { kind: 'synthesis', question: 'Q', conversation: [], system: null, facts: [], answers: [], failed: [] } as const;
  const read = (more: object, text: string) =>
    readBy(synthesisAsk, synthesisAsk.input.parse({ ...input, openGap: null, parameters: {}, startedOn: '2026-01-02', ...more }))(text);
  const insight = '<SYNTHESIS_INSIGHT>{"summary":"Ada founded it.","entities":["Ada"],"insight_type":"inference"}</SYNTHESIS_INSIGHT>';
  const why = 'Nothing was found about this in what was looked up.';

  it('says below it why, and teaches nothing', () => {
    const text = `Ada did.\n\n${why} This answer rests on what the model itself knows.`;
    expect(read({ unsourced: 'nothing_found' }, `Ada did.${insight}`)).toMatchObject({ output: { text, insight: null } });
    expect(read({}, `Ada did.${insight}`)).toMatchObject({ output: { text: 'Ada did.', insight: { summary: 'Ada founded it.' } } });
  });

  it.each(['', ' \n', insight])(
    'is none if the model wrote nothing (%j), as servers reply that send only thinking: a note alone is no answer',
    (said) => {
      expect(read({ unsourced: 'nothing_found' }, said)).toEqual({ faults: ['The reply is empty.'] });
      const shown = synthesisAsk.show!(
        synthesisAsk.input.parse({ ...input, openGap: null, parameters: {}, startedOn: '2026-01-02', unsourced: 'nothing_found' }),
      );
      expect((shown.push(said) + shown.end()).trim()).toBe('');
    },
  );

  it('has no note if the client wants JSON', () => {
    const wanted = { parameters: { response_format: { type: 'json_object' } } };
    expect(read({ unsourced: 'nothing_found', ...wanted }, '{"by":"Ada"}')).toMatchObject({ output: { text: '{"by":"Ada"}' } });
  });
});

describe('hints of the judge', () => {
  it('reach the tasks they name; others and empty ones are dropped', () => {
    expect(hints('```json\n{"hints":[{"task":"x1","hint":"Be exact."},{"task":"x9","hint":"?"},{"task":"x2","hint":" "}]}\n```')).toEqual({
      output: { kind: 'hints', hints: { 'run_00000001/0/x1': 'Be exact.' } },
    });
    expect(hints('[{"task":"x2 (general)","hint":"Cite."}]')).toMatchObject({ output: { hints: { 'run_00000001/0/x2': 'Cite.' } } });
    expect(hints('{"hints":[]}')).toEqual({ output: { kind: 'hints', hints: {} } });
  });
  it.each([
    ['I have no hints.', 'The reply contains no JSON.'],
    ['{"hints":"be exact"}', '"hints": Invalid input: expected array, received string.'],
    ['{"hints":[{"task":"x1","hint":7}]}', '"hints.0.hint": Invalid input: expected string, received number.'],
    ['{"hints":[{"task":"x9","hint":"?"}]}', 'No hint names a task that was shown. They are: x1, x2.'],
  ])('cannot be read in %s, with the reason', (reply, fault) => {
    expect(hints(reply)).toEqual({ faults: [fault] });
  });
  it('that were cut off are reported as such', () => {
    expect(hints('{"hints":[{"task":"x1","hint":"Be', true)).toEqual({
      faults: ['The reply was cut off before its JSON ended: be shorter.'],
    });
  });
});

describe('scores of the judge', () => {
  it('are put back in their order: the second pair was shown the other way round', () => {
    expect(scores('{"scores":[{"task":"x1~r1","a":0.4,"b":"0.9"},{"task":"x2~r1","a":"80 %","b":0.3}]}')).toEqual({
      output: {
        kind: 'scores',
        scores: [
          { taskId: 'run_00000001/0/x1~r1', before: 0.4, after: 0.9 },
          { taskId: 'run_00000001/0/x2~r1', before: 0.3, after: 0.8 },
        ],
      },
    });
  });
  it('of a pair without two numbers, or of a repeated pair, do not count', () => {
    expect(scores('{"scores":[{"task":"x1~r1","a":0.1,"b":0.2},{"task":"x1~r1","a":1,"b":0},{"task":"x2~r1","a":0.4}]}')).toMatchObject({
      output: { scores: [{ taskId: 'run_00000001/0/x1~r1' }] },
    });
  });
  it.each(['none', '{"scores":[{"task":"x1~r1","a":0.4},{"task":"x2~r1","a":"good","b":"better"}]}'])('cannot be read in %s', (reply) => {
    expect(scores(reply)).toHaveProperty('faults');
  });
});

describe('a verdict of the critic', () => {
  it('is confirmed, or corrected with a text, which gets its list of sources', () => {
    expect(critique('{"verdict":"CONFIRMED","reasons":"fine"}')).toEqual({
      output: { kind: 'critique', verdict: 'confirmed', reasons: ['fine'], text: null },
    });
    expect(critique('{"verdict":"corrected","reasons":["dose"],"answer":"Half of it [1]."}')).toEqual({
      output: { kind: 'critique', verdict: 'corrected', reasons: ['dose'], text: 'Half of it [1].\n\nSources:\n[1] Leaflet' },
    });
  });
  it.each([
    ['CONFIRMED', 'The reply contains no JSON.'],
    ['I would rather write a new answer.', 'The reply contains no JSON.'],
    ['{"verdict":"corrected"}', 'A corrected answer needs its whole text in "answer".'],
    ['{"verdict":"maybe"}', '"verdict" must be "confirmed" or "corrected".'],
    ['[]', 'Invalid input: expected object, received array.'],
  ])('cannot be read in %s: no rambling reply replaces an answer', (reply, fault) => {
    expect(critique(reply)).toEqual({ faults: [fault] });
  });
});

describe('the asks of the judges', () => {
  it('send servers the form of the replies that are JSON, and require every member', () => {
    for (const { call } of [hintsAsk, scoreAsk, criticAsk])
      expect(call?.json?.({ answers: [], pairs: [] } as never).json_schema.strict).toBe(true);
    expect(criticAsk.call!.json!({} as never).json_schema.schema).toEqual({
      type: 'object',
      properties: {
        verdict: { type: 'string', enum: ['confirmed', 'corrected'] },
        reasons: { type: 'array', maxItems: 10, items: { type: 'string' } },
        answer: { type: ['string', 'null'] },
      },
      required: ['verdict', 'reasons', 'answer'],
      additionalProperties: false,
    });
  });
  it('the gap check demands a verdict, after the gap', () => {
    const { schema } = gapAsk.call!.json!({} as never).json_schema;
    const properties = schema['properties'] as Record<string, object>;
    expect(Object.keys(properties)).toEqual(['GAP', 'COMPLETION_STATUS', 'NEXT_FOCUS']);
    expect(properties['COMPLETION_STATUS']).toMatchObject({ enum: ['COMPLETE', 'NEEDS_MORE_INFO'] });
  });
  it('are repeated as often as they declare: the gap check and the answer never', () => {
    expect([gapAsk, synthesisAsk, hintsAsk, scoreAsk, thinkingAsk, criticAsk].map(({ reAsks }) => reAsks)).toEqual([0, 0, 1, 1, 1, 2]);
  });
});

describe('the answer', () => {
  const input = {
    ...{ kind: 'synthesis' as const, question: 'Q', conversation: [], system: null, facts: [fact], answers: [], failed: [] },
    ...{ openGap: null, thinking: null, parameters: {}, startedOn: '2026-01-02' },
  };
  const reply = 'Half of it [1].\n<SYNTHESIS_INSIGHT>{"summary":"s","entities":["e"],"insight_type":"synthesis"}</SYNTHESIS_INSIGHT>\n';

  it('is shown as it is read, wherever its text is cut', () => {
    const reading = readBy(synthesisAsk, input)(reply);
    if (!('output' in reading)) throw new Error('It is not read.');
    expect(reading.output).toMatchObject({ insight: { summary: 's' }, cutShort: false, sources: [{ n: 1, title: 'Leaflet' }] });
    expect(reading.output.text).toMatch(/^Half of it \[1\]\.\n\n?\n*Sources:\n\[1\] Leaflet$/);
    for (let at = 0; at <= reply.length; at += 1) {
      const filter = synthesisAsk.show!(input);
      expect(filter.push(reply.slice(0, at)) + filter.push(reply.slice(at)) + filter.end()).toBe(reading.output.text);
    }
  });
  it('names below it the changes that failed, bounded, but not in JSON', () => {
    const undone = Array.from({ length: 7 }, (_, n) => ({
      call: `shop.order (item: ${n})`,
      reason: n === 0 ? `sold\nout ${'!'.repeat(900)}` : 'away',
    }));
    const text = (more: object) => {
      const reading = readBy(synthesisAsk, { ...input, undone, ...more })('All is ordered [1].');
      if (!('output' in reading)) throw new Error('It is not read.');
      return reading.output.text;
    };
    expect(text({})).toMatch(
      /^All is ordered \[1\]\.[^]*\n\nNot confirmed as done:\n- shop\.order \(item: 0\): sold out !+…?\n- shop\.order \(item: 1\): away\n[^]*\n- … \(2\)$/,
    );
    expect(text({}).length).toBeLessThan(900);
    expect(text({ undone: [] })).not.toContain('Not confirmed');
    const unsent = { call: 'shop.order (item: 9)', reason: 'It was not called.', unsent: true };
    expect(text({ undone: [unsent, undone[1]] })).toMatch(
      /\n\nNot confirmed as done:\n- shop\.order \(item: 1\): away\n\nNot done:\n- shop\.order \(item: 9\): It was not called\.$/,
    );
    expect(text({ undone: [unsent] })).not.toContain('Not confirmed');
    expect(text({ language: 'de' })).toContain('Nicht als erledigt bestätigt:');
    expect(text({ parameters: { response_format: { type: 'json_object' } } })).not.toContain('Not confirmed');
  });
  it('that is empty counts as none', () => {
    expect(readBy(synthesisAsk, input)(' \n')).toHaveProperty('faults');
  });
});
