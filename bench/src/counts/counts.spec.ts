import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from '@conclave/test-support/system';
import { onTrustedData } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { countRuns } from './count-runs.js';
import { above, countsPage } from './counts-page.js';

const page = join(workspaceRoot, 'docs/counts.md');

describe('what a run costs, counted', () => {
  it('is not above docs/counts.md', async () => {
    const wrong: string[] = [];
    const stop = onTrustedData(({ type, schema }, data) => {
      const parsed = schema.safeParse(data);
      if (JSON.stringify(parsed.data) !== JSON.stringify(data)) wrong.push(`${type}: ${parsed.error?.message ?? 'it has other members'}`);
    });
    const { counts } = await countRuns(8);
    stop();
    // What is not checked when it is made is right all the same.
    expect(wrong).toEqual([]);
    if (process.env['CONCLAVE_WRITE_COUNTS']) writeFileSync(page, countsPage(counts));
    expect(above(readFileSync(page, 'utf8'), counts)).toEqual([]);
  }, 60_000);

  it('reports a single count above the documented one', () => {
    const counts = { transactions: 3, awaited: 2, statements: 40, bytes: 900, states: 1, checks: 5 };
    expect(above(countsPage(counts), counts)).toEqual([]);
    expect(above(countsPage(counts), { ...counts, statements: 41 })).toEqual([expect.stringContaining('41, recorded 40')]);
    expect(() => above('', counts)).toThrow('says nothing');
  });
});
