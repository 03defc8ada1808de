import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { openDemoModels } from './demo-models.js';
import type { Document } from './__fixtures__/generated-cases.js';
import { runLoop } from './__fixtures__/miniature-loop.js';
import { sampleCorpusFolder } from './sample-corpus.js';

const corpus = readdirSync(sampleCorpusFolder()).map((file): Document => {
  const [heading, ...paragraphs] = readFileSync(join(sampleCorpusFolder(), file), 'utf8').trim().split(/\n+/);
  return { title: heading!.replace('# ', ''), text: paragraphs.join(' ') };
});
const models = openDemoModels();
const without = (title: string): readonly Document[] => corpus.filter((document) => document.title !== title);

describe('the sample corpus', () => {
  it.each([
    ['In which town was the founder of the Tidewater Clock Company born?', 'Kettle Sound', 'Ilse Brandvold'],
    ['In what year was the author of The Winter Ferry born?', '1911', 'Tomas Aldine'],
    ['Where did the architect of the Gull Bridge study?', 'University of Aldersund', 'Maren Holt'],
    ['Which river flows through the capital of Vestmark?', 'Torne', 'Aldersund'],
  ])('answers "%s" with one re-plan, and reports the gap without the second document', async (question, answer, bridge) => {
    const run = await runLoop(models, question, corpus, 3, 5);
    expect(run.answer.startsWith(answer)).toBe(true);
    expect(run.searches).toHaveLength(2);
    expect(run.searches[0]).not.toContain(bridge);
    expect(run.searches[1]).toContain(bridge);
    const gap = await runLoop(models, question, without(bridge), 3, 5);
    expect(gap.answer).not.toContain(answer);
    expect(gap.answer).toContain(`The documents name ${bridge}, but nothing in them answers`);
  });

  it('answers a question without capitals', async () => {
    const run = await runLoop(models, 'in which town was the founder of the tidewater clock company born', corpus, 3, 5);
    expect(run.answer.startsWith('Kettle Sound')).toBe(true);
  });

  it('treats no word of a remark in brackets after the question as part of it', async () => {
    const run = await runLoop(models, 'In which town was the founder of the Tidewater Clock Company born? (7, and briefly)', corpus, 3, 5);
    expect(run.answer.startsWith('Kettle Sound')).toBe(true);
  });

  it('answers a question over three documents', async () => {
    const run = await runLoop(
      models,
      'In which province lies the town where the founder of the Tidewater Clock Company was born?',
      corpus,
      3,
      5,
    );
    expect(run.answer.startsWith('Vestmark')).toBe(true);
    expect(run.answer).toMatch(/Ilse Brandvold.*Kettle Sound.*\[\d\].*Vestmark/s);
  });

  it('appears in no line of code', () => {
    const root = dirname(fileURLToPath(import.meta.url));
    const code = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('\n');
    const names = corpus.flatMap(({ title, text }) => [
      title,
      ...(text.match(/\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+/gu) ?? []),
      ...(text.match(/\d{4}/g) ?? []),
    ]);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => code.includes(name))).toEqual([]);
  });
});
