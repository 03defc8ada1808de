import { describe, expect, it } from '@jest/globals';
import type { SearchHit } from '@conclave/ports';
import { searchHits } from './further-search.js';

const hit = (title: string, snippet = `about ${title}`): SearchHit => ({ title, url: null, snippet });
const answers: Readonly<Record<string, readonly SearchHit[]>> = {
  'Ada Quist': [hit('Quist family'), hit('Works', 'founded by Ada')],
  'Who was it? Works founded by Ada': [hit('Works', 'founded by Ada'), hit('Ada'), hit('Quist family')],
};
const asked: { query: string; limit: number }[] = [];
const search = {
  query: async ({ query, limit }: { query: string; limit: number }) => {
    asked.push({ query, limit });
    return answers[query] ?? [];
  },
};
const titles = async (further?: Parameters<typeof searchHits>[1]['further']) =>
  (await searchHits(search, { query: 'Ada Quist', limit: 2, further }, new AbortController().signal)).map(({ title }) => title);

describe('a search', () => {
  it('of the first round uses only its own query', async () => {
    asked.length = 0;
    expect(await titles()).toEqual(['Quist family', 'Works']);
    expect(asked).toEqual([{ query: 'Ada Quist', limit: 2 }]);
  });

  it('of a later round continues from the findings without finding them again', async () => {
    asked.length = 0;
    const further = { question: 'Who was it?', found: [{ title: 'Works', text: 'founded by Ada' }] };
    expect(await titles(further)).toEqual(['Quist family', 'Ada']);
    expect(asked.map(({ query }) => query)).toEqual(['Ada Quist', 'Who was it? Works founded by Ada']);
  });
});
