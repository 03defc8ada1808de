import { describe, expect, it } from '@jest/globals';
import type { StreamEntry } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { CommitteeScript, inventedName, plainTemplate, type System } from '@conclave/test-support/system';
import { KeyedCaller, keys } from './callers.js';

export const ragTemplates = {
  reflects: { ...plainTemplate, strategy: 'reflective-rag', capabilities: ['collections'], learn: 'off' },
  'reflects-once': {
    ...plainTemplate,
    strategy: 'reflective-rag',
    capabilities: ['collections'],
    options: { max_rounds: 1 },
    learn: 'off',
  },
} as const;

const stagesOf = (entries: readonly StreamEntry[]): string[] => entries.flatMap((entry) => (entry.kind === 'stage' ? [entry.code] : []));

/** The number of the passage that contains a text, as a model reads it in its prompt. */
function passageWith(prompt: string, text: string): number {
  const at = prompt.indexOf(text);
  if (at < 0) throw new Error(`No passage holds: ${text}\n${prompt}`);
  return Number([...prompt.slice(0, at).matchAll(/^\[(\d+)\] /gm)].at(-1)![1]);
}

/** The strategy `reflective-rag` over HTTP, on documents that people upload. */
export function ragScenarios(system: () => System): void {
  const [ann, dee] = [new KeyedCaller(system, keys.ann), new KeyedCaller(system, keys.dee)];

  const collection = async (caller: KeyedCaller, description: string): Promise<string> => {
    const name = inventedName().toLowerCase();
    expect(await caller.send('POST', '/collections', { name, description })).toMatchObject({ status: 201 });
    return name;
  };
  const upload = async (caller: KeyedCaller, to: string, name: string, text: string): Promise<string> => {
    const { id } = (await caller.send('POST', `/collections/${to}/documents`, { name, mime: 'text/markdown', text })).body as {
      id: string;
    };
    await until(
      `the document ${name}`,
      async () => ((await caller.send('GET', `/collections/${to}/documents/${id}`)).body as { status: string }).status === 'ready',
      { timeoutMs: 30_000, everyMs: 100 },
    );
    return id;
  };

  describe('reflective-rag', () => {
    it('refines its query with what it found, keeps the facts of both passes, and cites no others', async () => {
      const [works, founder, town] = [inventedName(), inventedName(), inventedName()];
      const [firms, people] = [await collection(ann, 'Companies and who founded them.'), await collection(ann, 'Lives of engineers.')];
      await upload(ann, firms, 'works.md', `# ${works}\n\nThe ${works} works were founded by ${founder} in 1874.\n`);
      const life = await upload(ann, people, 'life.md', `# ${founder}\n\n${founder} was born in ${town} and built bridges.\n`);
      await upload(ann, people, 'other.md', '# Somebody\n\nSomebody else was born in a village and wrote letters.\n');

      const question = `In which town was the founder of the ${works} works born?`;
      const s = new CommitteeScript(system().models, question)
        .part(
          'router',
          (prompt) => {
            expect(prompt).toContain(`- ${firms}: Companies and who founded them.`);
            return { class: 'factual', collections: [firms] };
          },
          1,
        )
        .part(
          'reader',
          (prompt) => ({
            facts: [{ fact: `${founder} founded the ${works} works.`, passage: passageWith(prompt, `founded by ${founder}`) }],
          }),
          1,
        )
        .part('evaluator', { quality: 'partial', missing: [`where ${founder} was born`] }, 1)
        .part(
          'refiner',
          (prompt) => {
            expect(prompt).toContain(`where ${founder} was born`);
            expect(prompt).toContain('1 new fact');
            return `birthplace of ${founder}`;
          },
          1,
        )
        .part(
          'router',
          (prompt) => {
            expect(prompt).toContain(`QUERY: birthplace of ${founder}`);
            return { class: 'exploratory', collections: [people] };
          },
          1,
        )
        .part(
          'reader',
          (prompt) => ({ facts: [{ fact: `${founder} was born in ${town}.`, passage: passageWith(prompt, `born in ${town}`) }] }),
          1,
        )
        .part(
          'evaluator',
          (prompt) => {
            expect(prompt).toContain(`[1] ${founder} founded the ${works} works.`);
            expect(prompt).toContain(`[2] ${founder} was born in ${town}.`);
            return { quality: 'sufficient', missing: [] };
          },
          1,
        )
        .answer([`It was ${founder} [1`, `, 9], born in ${town} [2] [`, '7].']);
      const run = await ann.answered('reflects', question);
      expect(s.unused()).toEqual([]);
      expect(run).toMatchObject({ outcome: 'completed', rule: 'D3' });
      expect(run.answer).toContain(`It was ${founder} [1], born in ${town} [2].`);
      expect(run.answer).not.toMatch(/\[[79]\]/);
      expect(run.sources).toEqual([
        expect.objectContaining({ kind: 'collection', n: 1, document: expect.stringMatching(new RegExp(`^${firms}/`)) }),
        expect.objectContaining({ kind: 'collection', n: 2, document: `${people}/${life}` }),
      ]);
      // Router, reader, evaluator and refiner, then the first three again, and the composer.
      expect(run.usage.total.calls).toBe(8);
      expect(stagesOf(await ann.events(run.id))).toEqual([
        ...['routing', 'retrieving', 'summarizing', 'evaluating', 'refining'],
        ...['routing', 'discovering', 'retrieving', 'summarizing', 'evaluating', 'generating', 'done'],
      ]);
    });

    it('reads a whole document for a deep question, looks everywhere when its router fails, and says what is missing', async () => {
      const [engineName, shelf] = [inventedName(), await collection(ann, 'Manuals.')];
      const steps = Array.from(
        { length: 40 },
        (_, n) => `## Step ${n + 1}\n\nTurn valve ${n + 1} of the ${engineName} by ${n + 2} degrees.`,
      );
      await upload(ann, shelf, 'manual.md', `# Start of the ${engineName}\n\n${steps.join('\n\n')}\n`);

      const deep = `How is the ${engineName} started, step by step?`;
      const s = new CommitteeScript(system().models, deep)
        .part('router', { class: 'deep_dive', collections: [shelf] }, 1)
        .part(
          'reader',
          (prompt) => {
            for (const n of [1, 17, 40]) expect(prompt).toContain(`Turn valve ${n} of the ${engineName}`);
            return { facts: [{ fact: `Valve 40 of the ${engineName} is turned by 41 degrees.`, passage: 1 }] };
          },
          1,
        )
        .part('evaluator', 'No verdict.', 3)
        .answer(['Valve 40 comes last [1].']);
      const run = await ann.answered('reflects-once', deep);
      expect(s.unused()).toEqual([]);
      // An unreadable verdict, requested three times, counts as insufficient.
      expect(run).toMatchObject({ outcome: 'limit_reached', rule: 'D6' });
      expect(stagesOf(await ann.events(run.id))).toEqual([
        'routing',
        'discovering',
        'reading',
        'summarizing',
        'evaluating',
        'generating',
        'done',
      ]);

      const lost = `Who made the ${engineName}?`;
      const t = new CommitteeScript(system().models, lost)
        .part('router', 'I would rather not say.', 3)
        .part('reader', { facts: [{ fact: `There is an engine ${engineName}.`, passage: 1 }] }, 1)
        .part('evaluator', { quality: 'insufficient', missing: ['the maker'] }, 1)
        .answer(['The documents do not name the maker [1].']);
      const found = await ann.answered('reflects-once', lost);
      expect(t.unused()).toEqual([]);
      expect(found).toMatchObject({ outcome: 'limit_reached', reason: expect.stringContaining('the maker') });
      expect(JSON.stringify(t.calls('composer')[0]!.messages)).toContain('STILL OPEN: the maker');
      expect(JSON.stringify(t.calls('reader')[0]!.messages)).toContain(`of the ${engineName}`);

      // A tenant without collections gets this message, and no model is asked.
      const none = `Who owns the ${engineName}?`;
      const u = new CommitteeScript(system().models, none);
      expect(await dee.answered('reflects-once', none)).toMatchObject({
        outcome: 'failed',
        reason: expect.stringContaining('no collection'),
      });
      expect(u.calls()).toEqual([]);
    });
  });
}
