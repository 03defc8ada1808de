import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { sampleCorpusFolder, sampleQuestion } from '@conclave/adapter-demo';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import type { OwnMaterial } from './material.js';
import { measureOwn } from './own-questions.js';
import { axisEnd, plotOf } from './plot.js';
import { readQuestions } from './questions.js';
import { areFound, isRight } from './scoring.js';

// Starting all services is slow on a busy machine.
jest.setTimeout(120_000);

describe('a file of questions', () => {
  it('contains questions with one or several titles or answers; other lines are reported with their number', () => {
    const text = [
      '{"question": "Who founded it?", "answers": "Ada Pell"}',
      '',
      '{"question": "Where was she born?", "titles": ["Ada Pell", "Brest"], "answers": ["Brest"]}',
      'not JSON',
      '{"question": "What else?"}',
      '{"question": 7, "answers": ["x"]}',
      '{"question": "Typo?", "answer": "x"}',
    ].join('\n');
    const { questions, invalid } = readQuestions(text);
    expect(questions).toEqual([
      { line: 1, question: 'Who founded it?', titles: null, answers: ['Ada Pell'] },
      { line: 3, question: 'Where was she born?', titles: ['Ada Pell', 'Brest'], answers: ['Brest'] },
    ]);
    expect(invalid).toEqual([
      { line: 4, why: 'it is not JSON' },
      { line: 5, why: expect.stringMatching(/needs `titles`.* or `answers`/) },
      { line: 6, why: expect.stringMatching(/^`question`: /) },
      { line: 7, why: expect.stringMatching(/answer/) },
    ]);
  });
});

describe('an answer', () => {
  it.each([
    ['She was born in Saint-Orrin [1].', ['Saint Orrin'], true],
    ['It was the École Normale.', ['ecole normale'], true],
    ['It took 17 years.', ['7'], false],
    ['I do not know.\n\nSources:\n[1] Saint Orrin', ['Saint Orrin'], false],
    [null, ['x'], false],
  ])('is right when it contains an accepted answer as whole words: %s', (answer, accepted, right) => {
    expect(isRight(answer, accepted)).toBe(right);
  });

  it('counts as found when all titles were found', () => {
    expect(areFound(['Ada Pell', 'The Mill'], ['docs/ada-pell.md', 'Mill', 'Other'])).toBe(true);
    expect(areFound(['Ada Pell', 'Brest'], ['Ada Pell'])).toBe(false);
  });
});

describe('the plot', () => {
  it('uses a round cost axis, and shows names as text', () => {
    expect([0, 3, 70, 1_000, 1_001].map(axisEnd)).toEqual([1, 5, 100, 1_000, 2_000]);
    const points = [
      { name: '<one>', cost: 0, share: 0, low: 0, high: 0 },
      { name: 'other', cost: 1_000, share: 1, low: 1, high: 1 },
    ];
    const svg = plotOf(points, { title: 'T', costs: 'tokens', shares: 'accuracy' });
    expect(svg).toContain('<circle cx="70" cy="380" r="5"');
    expect(svg).toContain('<circle cx="560" cy="40" r="5"');
    expect(svg).toContain('&#60;one&#62;');
  });
});

describe('own questions', () => {
  const home = mkdtempSync(join(tmpdir(), 'conclave-own-spec-'));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'questions.jsonl');
  const material = (more: Partial<OwnMaterial> = {}): OwnMaterial => ({
    ...{ questions: file, documents: sampleCorpusFolder(), templates: ['conclave-fast', 'conclave'], parallel: 2 },
    report: join(home, 'report.md'),
    signal: new AbortController().signal,
    terminal: { write: () => undefined },
    loaded: loadConfiguration({ CONCLAVE_HOME: home, PORT: '0' }, home, { categories: Object.keys(expertPrompts) }),
    localServers: { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 },
    ...more,
  });
  const rows = [
    { question: sampleQuestion(), answers: ['Saint Orrin'], titles: ['Northlight Clock Company', 'Anders Quill'] },
    { question: 'Who founded the Northlight Clock Company?', answers: ['nobody at all'] },
  ];

  it('are answered by each template, with progress, a report, a plot, and every answer', async () => {
    writeFileSync(file, `${rows.map((row) => JSON.stringify(row)).join('\n')}\nnonsense\n`);
    let said = '';
    const { figures, notes, cancelled } = await measureOwn(material({ terminal: { write: (text) => void (said += text) } }));
    expect(cancelled).toBe(false);
    expect(said).toContain(`${file}:3: left out: it is not JSON`);
    for (const done of [1, 2, 3, 4]) expect(said).toMatch(new RegExp(`^\\[${done}/4\\] conclave`, 'm'));
    expect(notes).toEqual([expect.stringMatching(/^Line 3 of .* was left out: it is not JSON\.$/)]);
    const [fast, loop] = figures['templates'] as { readonly calls: number }[];
    expect(fast).toMatchObject({ template: 'conclave-fast', asked: 2 });
    expect(loop).toMatchObject({ template: 'conclave', asked: 2, accuracy: { share: 0.5 }, recall: { share: 1 } });
    expect(loop!.calls).toBeGreaterThan(fast!.calls);
    expect(readFileSync(join(home, 'report.md'), 'utf8')).toMatch(/conclave +2 +50\.0 % .*!\[\]\(report\.svg\)/s);
    expect(readFileSync(join(home, 'report.svg'), 'utf8')).toContain('Accuracy against tokens');
    const answers = readFileSync(join(home, 'report.jsonl'), 'utf8').trim().split('\n');
    expect(answers.map((line) => (JSON.parse(line) as { line: number }).line).sort()).toEqual([1, 1, 2, 2]);
  });

  it('keep the measured results when the user interrupts', async () => {
    const stop = new AbortController();
    const report = await measureOwn(
      material({ parallel: 1, signal: stop.signal, terminal: { write: (text) => void (text.startsWith('[1/4]') && stop.abort()) } }),
    );
    expect(report.cancelled).toBe(true);
    expect(report.notes).toContainEqual(expect.stringMatching(/^It was cancelled after 1 of 4 answers/));
    expect(readFileSync(join(home, 'report.jsonl'), 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it('are refused with a message that says what to change', async () => {
    await expect(measureOwn(material({ questions: join(home, 'none.jsonl') }))).rejects.toThrow(/cannot be read/);
    await expect(measureOwn(material({ documents: file }))).rejects.toThrow(/is not a folder of documents/);
    await expect(measureOwn(material({ templates: ['nobody'] }))).rejects.toThrow(/No template or model has this id/);
    writeFileSync(file, 'nonsense\n');
    await expect(measureOwn(material())).rejects.toThrow(/has no valid question/);
  });
});
