import { describe, expect, it } from '@jest/globals';
import { runLoop } from '../__fixtures__/miniature-loop.js';
import { openDemoModels } from '../demo-models.js';
import { namedQuestions, questionsIn } from './several.js';

describe('the questions of a request', () => {
  it.each([
    ['Who built the Orrell Mill? Where is Lake Sava?', ['Who built the Orrell Mill?', 'Where is Lake Sava?']],
    ['Who built the Orrell Mill, and in which year was it sold?', ['Who built the Orrell Mill?', 'in which year was it sold?']],
    ['Who built the Orrell Mill and who owns it? Thanks!', ['Who built the Orrell Mill?', 'who owns it?']],
    ['Who built the Orrell Mill, and when?', ['Who built the Orrell Mill?', 'When, and who built the Orrell Mill?']],
    ['When was Ada Voss born? And where?', ['When was Ada Voss born?', 'Where, and when was Ada Voss born?']],
    [
      'When was the mill at Orrell built, and by whom?',
      ['When was the mill at Orrell built?', 'By whom, and when was the mill at Orrell built?'],
    ],
    [
      'Who built the Orrell Mill, when exactly and why?',
      ['Who built the Orrell Mill?', 'When, and who built the Orrell Mill?', 'Why, and who built the Orrell Mill?'],
    ],
    [
      'Who built it? In which town was she born, and when?',
      ['Who built it?', 'In which town was she born?', 'When, and in which town was she born?'],
    ],
  ])('are told apart: %s', (request, questions) => {
    expect(questionsIn(request)).toEqual(questions);
  });

  it.each([
    'Where and when was the builder of the Orrell Mill born?',
    'Can you help me? Who built the Orrell Mill?',
    'Why? Who built the Orrell Mill?',
    'When and where?',
    'Can you tell me when and where?',
    'When, and who built the Orrell Mill?',
    'Is Ada Voss the one who left, or when?',
    'Which river flows through the village in which Ada Voss lived and worked?',
    'Tell me about the Orrell Mill and what people say of it.',
  ])('are one: %s', (request) => {
    expect(questionsIn(request)).toEqual([request]);
  });

  it('are searched for only if they name what they are about', () => {
    expect(namedQuestions('Who built the Orrell Mill? In which town was she born?')).toEqual(['Who built the Orrell Mill?']);
    expect(namedQuestions('Who built the Orrell Mill, and when?')).toEqual(['Who built the Orrell Mill?']);
  });
});

describe('a request of several questions', () => {
  const corpus = [
    { title: 'Orrell Mill', text: 'The Orrell Mill grinds rye. It was built by Ada Voss in 1811. Its wheel is of oak.' },
    { title: 'Ada Voss', text: 'Ada Voss was a wheelwright. She was born in Tarn in 1780 and died in Upper Leck.' },
    { title: 'Lake Sava', text: 'Lake Sava is a lake in the county of Merrin. It is 40 metres deep because a glacier dug it.' },
    { title: 'Upper Leck', text: 'Upper Leck is a village with a market on Tuesdays.' },
  ];
  const asked = (question: string) => runLoop(openDemoModels(), question, corpus);

  it('gets an answer to each of them', async () => {
    const { answer, searches } = await asked('Who built the Orrell Mill, and how deep is Lake Sava?');
    expect(answer).toMatch(/^Ada Voss \[\d\]\..*\n\n40 metres \[\d\]\./s);
    expect(searches.slice(0, 2).map((query) => /Orrell|Sava/.exec(query)?.[0])).toEqual(['Orrell', 'Sava']);
  });

  it('reads a pronoun as the answer to the question before', async () => {
    const { answer } = await asked('Who built the Orrell Mill? In which town was she born?');
    expect(answer).toMatch(/^Ada Voss \[\d\]\..*\n\nTarn \[\d\]\./s);
  });

  it('reads a question word alone as one more thing about the question before', async () => {
    const { answer, searches } = await asked('Who built the Orrell Mill, and when?');
    expect(answer).toMatch(/^Ada Voss \[\d\]\..*\n\n1811 \[\d\]\./s);
    expect(searches).toHaveLength(1);
    const later = await asked('Who built the Orrell Mill? In which town was she born, and when?');
    expect(later.answer).toMatch(/^Ada Voss \[\d\]\..*\n\nTarn \[\d\]\..*\n\n1780 \[\d\]\./s);
  });

  it('gives only what a sentence names as a reason for one', async () => {
    expect((await asked('How deep is Lake Sava, and why?')).answer).toMatch(
      /\n\nLake Sava is 40 metres deep because a glacier dug it \[\d\]\./,
    );
    const { answer } = await asked('Who built the Orrell Mill, and why?');
    expect(answer).toMatch(/^Ada Voss \[\d\]\..*\n\nThe documents that were found say nothing that answers “Why, and who built/s);
  });

  it('is open while one of them is, and the others are answered', async () => {
    const { answer, gaps } = await asked('Who built the Orrell Mill? Who painted Lake Sava?');
    expect(gaps.at(-1)).toContain('Who painted Lake Sava?');
    expect(answer).toMatch(/^Ada Voss \[\d\]\./);
  });
});
