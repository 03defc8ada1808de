import { describe, expect, it } from '@jest/globals';
import { readCritique, readHints, readScores } from './judge-replies.js';

const answer = (local: string) => ({ taskId: `run_00000001/0/${local}`, category: 'general', task: 'Say it.', text: 'It.', gaps: [] });
const hintsInput = { kind: 'hints', question: 'Q', answers: [answer('x1'), answer('x2')] } as const;
const pair = (local: string) => ({ taskId: `run_00000001/0/${local}`, category: 'general', task: 'Say it.', before: 'old', after: 'new' });
const scoreInput = { kind: 'score', question: 'Q', pairs: [pair('x1~r1'), pair('x2~r1')] } as const;
const hints = (reply: string) => readHints(reply, { ...hintsInput, answers: [...hintsInput.answers] });
const scores = (reply: string) => readScores(reply, { ...scoreInput, pairs: [...scoreInput.pairs] });

describe('hints of the judge', () => {
  it('go to the tasks they name; others and empty ones are dropped', () => {
    expect(hints('```json\n{"hints":[{"task":"x1","hint":"Be exact."},{"task":"x9","hint":"?"},{"task":"x2","hint":" "}]}\n```')).toEqual({
      'run_00000001/0/x1': 'Be exact.',
    });
    expect(hints('[{"task":"x2 (general)","hint":"Cite."}]')).toEqual({ 'run_00000001/0/x2': 'Cite.' });
  });
  it('are none in a reply that cannot be read', () => {
    expect(hints('I have no hints.')).toEqual({});
  });
});

describe('scores of the judge', () => {
  it('are put back in their order: the second pair was shown the other way round', () => {
    expect(scores('{"scores":[{"task":"x1~r1","a":0.4,"b":"0.9"},{"task":"x2~r1","a":"80 %","b":0.3}]}')).toEqual([
      { taskId: 'run_00000001/0/x1~r1', before: 0.4, after: 0.9 },
      { taskId: 'run_00000001/0/x2~r1', before: 0.3, after: 0.8 },
    ]);
  });
  it('of a pair without two numbers, or said twice, do not count', () => {
    expect(scores('{"scores":[{"task":"x1~r1","a":0.4},{"task":"x2~r1","a":"good","b":"better"}]}')).toEqual([]);
    expect(scores('{"scores":[{"task":"x1~r1","a":0.1,"b":0.2},{"task":"x1~r1","a":1,"b":0}]}')).toHaveLength(1);
    expect(scores('none')).toEqual([]);
  });
});

describe('a verdict of the critic', () => {
  it('is confirmed, or corrected with a text', () => {
    expect(readCritique('{"verdict":"CONFIRMED","reasons":"fine"}')).toEqual({ verdict: 'confirmed', reasons: ['fine'], text: null });
    expect(readCritique('{"verdict":"corrected","reasons":["dose"],"answer":"Half of it."}')).toEqual({
      verdict: 'corrected',
      reasons: ['dose'],
      text: 'Half of it.',
    });
  });
  it.each(['CONFIRMED', 'I would rather write a new answer.', '{"verdict":"corrected"}', '{"verdict":"maybe"}', '[]'])(
    'is unparsable in %s: no rambling reply replaces an answer',
    (reply) => {
      expect(readCritique(reply)).toEqual({ verdict: 'unparsable', reasons: [], text: null });
    },
  );
});
