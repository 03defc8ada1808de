import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { PassageList } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { CommitteeScript, type System, expert, inventedName, plainTemplate, type Task } from '@conclave/test-support/system';
import { KeyedCaller, keys } from './callers.js';

/** Made with libraries other than those that read them. */
const office = new URL('../../../../libs/adapters/documents/src/__fixtures__/office/', import.meta.url);

export const collectionTemplates = {
  reads: { ...plainTemplate, strategy: 'single-pass', capabilities: ['collections'], learn: 'off' },
} as const;

/** Documents that people upload, searched by the runs of their tenant; distributed mode needs ChromaDB for them. */
export function collectionScenarios(system: () => System): void {
  const [ann, bob, cyd] = [new KeyedCaller(system, keys.ann), new KeyedCaller(system, keys.bob), new KeyedCaller(system, keys.cyd)];
  const look: Task = { id: 'c1', task: 'Look it up', capability: 'collections', search_query: 'harbour dues of ships' };
  const told = (s: CommitteeScript): string => JSON.stringify(s.calls('composer').at(-1)!.messages);

  describe('an Office document in a collection', () => {
    it.each([
      ['lighthouses.docx', 'Who lit the lamp of Gannet Rock?', 'lit in 1871 by Isolde Fenwick', 'Gannet Rock'],
      [
        'ferries.xlsx',
        'How many seats has the ferry Razorbill?',
        'Razorbill | Skerry Bay | 2011-09-02 06:30 | 180',
        'Ferries / Rows 1 to 7',
      ],
      ['museum.pptx', 'Who gave the brass astrolabe?', 'given by Leontine Vasse', 'Slide 2: The collection'],
    ])('%s: its passage is found, and cited with its position', async (file, query, passage, section) => {
      const name = inventedName().toLowerCase();
      expect((await ann.send('POST', '/collections', { name, description: 'Islands.' })).status).toBe(201);
      const { id, title } = await ann.uploaded(name, file, readFileSync(new URL(file, office)));
      expect(title).toMatch(/Merrow/);

      const tried = await bob.send('POST', `/collections/${name}/query`, { query, limit: 2 });
      expect(tried.status).toBe(200);
      const [best] = (tried.body as PassageList).data;
      expect(best).toMatchObject({ document: id, title, section, text: expect.stringContaining(passage) });
      expect(best!.similarity).toBeGreaterThan(0);
      expect((await cyd.send('POST', `/collections/${name}/query`, { query })).status).toBe(404);

      const s = new CommitteeScript(system().models, `${query} (${name})`)
        .plan([{ ...look, search_query: query }, expert('x1', 'Say it.')])
        .expert('It stands there.')
        .answer([`It says so [1].`]);
      const { sources } = await bob.answered('reads', s.question);
      expect(told(s)).toContain(passage.replaceAll('\n', ' '));
      expect(sources[0]).toMatchObject({ kind: 'collection', title, section, document: `${name}/${id}`, n: 1 });
      expect((await ann.send('DELETE', `/collections/${name}`)).status).toBe(200);
    });
  });

  describe('a document in a collection', () => {
    it('is cited by answers of its tenant, not found by others, and gone when it is removed', async () => {
      const [harbour, name] = [inventedName(), inventedName().toLowerCase()];
      const made = await ann.send('POST', '/collections', { name, description: 'Harbour dues.' });
      // Without a vector store the reply is a 503 that names `stores.chroma`: then nothing is shown, and this fails.
      expect(made).toMatchObject({ status: 201 });
      const text = `# Dues\n\nThe harbour dues of ships in ${harbour} are seven crowns a day.\n\n# Pilots\n\nPilots wear blue.\n`;
      const sent = await ann.send('POST', `/collections/${name}/documents`, { name: 'dues.md', mime: 'text/markdown', text });
      const { id } = sent.body as { id: string };
      await until(
        'the document',
        async () => ((await bob.send('GET', `/collections/${name}/documents/${id}`)).body as { status: string }).status === 'ready',
        { timeoutMs: 30_000, everyMs: 100 },
      );

      const ask = (label: string) =>
        new CommitteeScript(system().models, `What do ships pay in ${harbour} (${label})?`)
          .plan([look, expert('x1', 'Say it.')])
          .expert('Seven.')
          .answer([`Seven crowns a day in ${harbour} [1].`]);
      const one = ask('a colleague');
      const cited = await bob.answered('reads', one.question);
      // Its title comes after it; before it, on one line, both would read as "Dues The harbour dues".
      expect(told(one)).toMatch(new RegExp(`\\[\\d\\] The harbour dues of ships in ${harbour} are seven crowns a day. — Dues <`));
      expect(cited.sources[0]).toMatchObject({ kind: 'collection', n: 1 });

      // A collection of the same name, and empty: a tenant without any collection would not even be offered the capability.
      expect((await cyd.send('GET', `/collections/${name}/documents`)).status).toBe(404);
      expect((await cyd.send('POST', '/collections', { name, description: 'Harbour dues.' })).status).toBe(201);
      const two = ask('another tenant');
      const foreign = await cyd.answered('reads', two.question);
      expect(told(two)).not.toContain('are seven crowns a day');
      expect(foreign.sources).toEqual([]);
      expect((await cyd.send('GET', `/collections/${name}/documents/${id}`)).status).toBe(404);

      expect((await ann.send('DELETE', `/collections/${name}/documents/${id}`)).status).toBe(200);
      const three = ask('afterwards');
      await ann.answered('reads', three.question);
      expect(told(three)).not.toContain('are seven crowns a day');
      expect((await ann.send('DELETE', `/collections/${name}`)).status).toBe(200);
    });
  });
}
