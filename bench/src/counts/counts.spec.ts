import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from '@conclave/test-support/system';
import { onTrustedData } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { countRuns } from './count-runs.js';
import { above, countsPage } from './counts-page.js';

const page = join(workspaceRoot, 'docs/counts.md');

describe('the counted costs of a run', () => {
  it('are not above docs/counts.md', async () => {
    const wrong: string[] = [];
    const stop = onTrustedData(({ type, schema }, data) => {
      const parsed = schema.safeParse(data);
      if (JSON.stringify(parsed.data) !== JSON.stringify(data)) wrong.push(`${type}: ${parsed.error?.message ?? 'it has other members'}`);
    });
    const { counts } = await countRuns(8);
    stop();
    // Events that are not checked when they are made are valid all the same.
    expect(wrong).toEqual([]);
    if (process.env['CONCLAVE_WRITE_COUNTS']) writeFileSync(page, countsPage(counts));
    expect(above(readFileSync(page, 'utf8'), counts)).toEqual([]);
  }, 60_000);

  it('are reported one by one if they are above the documented ones', () => {
    const counts = { transactions: 3, awaited: 2, statements: 40, bytes: 900, states: 1, checks: 5 };
    expect(above(countsPage(counts), counts)).toEqual([]);
    expect(above(countsPage(counts), { ...counts, statements: 41 })).toEqual([expect.stringContaining('41, recorded 40')]);
    expect(above(countsPage(counts), { ...counts, bytes: 1_499 })).toEqual([]);
    expect(above(countsPage(counts), { ...counts, bytes: 1_500 })).toEqual([expect.stringContaining('1500, recorded 1000')]);
    expect(() => above('', counts)).toThrow('has no row');
  });
});
