import { describe, expect, it } from '@jest/globals';
import { rightAnswer } from '../questions.js';
import { another, changed, clean, found, one, recordOf, two } from './__fixtures__/changes.js';

const [asked, others] = ['Load question q-1-aa?', 'Load question q-2-bb?'];

/** The evidence of a run that was asked a question of a load, with these members of its end. */
const ended = (end: object) =>
  changed((evidence) => {
    evidence.records = evidence.records.map((record) =>
      record.event?.type === 'PlanRequested' && record.event.runId === one
        ? { ...another(record, { goal: asked }), offset: record.offset }
        : record.event?.id === `${one}/completed`
          ? { ...another(record, end), offset: record.offset }
          : record,
    );
  });
const judged = (end: object) => found(ended(end)).filter((finding) => finding.startsWith('right-answer'));

describe('the check of answers', () => {
  it('finds a cut answer, and one to the question of another run', () => {
    expect(judged({ answer: rightAnswer(asked) })).toEqual([]);
    expect(judged({ answer: `Once more: ${rightAnswer(asked)}` })).toEqual([]);
    expect(judged({ answer: rightAnswer(asked).slice(0, 20) })).toEqual([`right-answer ${one}`]);
    expect(judged({ answer: rightAnswer(others) })).toEqual([`right-answer ${one}`]);
  });

  it('does not judge runs that say that no model wrote their answer, that ended early, or that others asked', () => {
    expect(judged({ answer: 'What was found so far.', reasonCode: 'composer_failed' })).toEqual([]);
    expect(judged({ answer: 'What was found so far.', outcome: 'limit_reached' })).toEqual([]);
    expect(recordOf(`${two}/completed`)).toBeDefined();
    expect(found(clean)).toEqual([]);
  });
});

describe('the promise of a scenario', () => {
  it('is broken by what the scenario saw', () => {
    expect(found({ ...clean, broken: [{ id: one, sentence: 'It was late.' }] })).toEqual([`own-promise ${one}`]);
    expect(found({ ...clean, broken: [] })).toEqual([]);
  });
});
