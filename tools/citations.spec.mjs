import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { citationsOf, flawOf, tablesOf } from './citations.mjs';
import { runInGroup } from './process-group.mjs';
import { workspaceRoot } from './workspace.mjs';

const flaws = (cell) => citationsOf(cell).map(flawOf);

describe.each(['docs/status.md', 'docs/guarantees.md'])('%s', (path) => {
  const { tables, strays } = tablesOf(readFileSync(join(workspaceRoot, path), 'utf8'));
  const promises = tables.filter(({ header }) => header.at(-1) === 'Shown by').flatMap(({ rows }) => rows);

  it('has no row outside of a table', () => expect(strays).toEqual([]));

  it('cites something for every promise, and nothing that is not there', () => {
    expect(promises.length).toBeGreaterThan(10);
    const wrong = promises.flatMap(({ line, cells }) => {
      const cited = citationsOf(cells.at(-1));
      const found = cited.flatMap((citation) => flawOf(citation) ?? []);
      return cited.length === 0 ? [`line ${line} cites nothing`] : found.map((flaw) => `line ${line}: ${flaw}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('a citation', () => {
  it('is found with all that belongs to it', () => {
    expect(citationsOf('`describeEventLog`: `jest libs/ports memory-log`, e2e `committee` and `kills` (knowledge)')).toEqual([
      { code: 'describeEventLog', e2e: false, scenario: undefined },
      { code: 'jest libs/ports memory-log', e2e: false, scenario: undefined },
      { code: 'committee', e2e: true, scenario: 'knowledge' },
      { code: 'kills', e2e: true, scenario: 'knowledge' },
    ]);
  });

  it('of tests runs at least one file for each of its patterns, at the level that Jest would take', () => {
    expect(flaws('`jest libs/adapters/kafka kafka-log.int`, `jest libs/adapters/redis .int`, `jest tools`')).toEqual(
      Array(3).fill(undefined),
    );
    expect(flaws('`jest libs/adapters/kafka kafka-log`')).toEqual(['no fast spec file of libs/adapters/kafka matches "kafka-log"']);
    expect(flaws('`jest libs/adapters/redis outage.int no-such.int`')).toEqual([
      'no int spec file of libs/adapters/redis matches "no-such.int"',
    ]);
    expect(flaws('`jest libs/nowhere`')).toEqual(['no fast spec file of libs/nowhere matches ""']);
  });

  it('of integration tests is what Jest itself would run', async () => {
    const jest = join(workspaceRoot, 'node_modules/jest/bin/jest.js');
    const args = ['-c', 'libs/adapters/redis/jest.config.mjs', '--listTests', 'outage.int'];
    const { output } = await runInGroup(process.execPath, [jest, ...args], {
      cwd: workspaceRoot,
      env: { ...process.env, TEST_LEVEL: '' },
      limit: 50,
    });
    expect(output.trim()).toBe(join(workspaceRoot, 'libs/adapters/redis/src/outage.int.spec.ts'));
  });

  it('of end-to-end tests names a file, and a part that the file has', () => {
    expect(flaws('e2e `committee` (pipeline), e2e `memory` (kept answers)')).toEqual([undefined, undefined]);
    expect(flaws('e2e `lunch`')).toEqual(['there is no tests/e2e/src/lunch.e2e.spec.ts']);
    expect(flaws('e2e `demo` (pipeline)')).toEqual(['tests/e2e/src/demo.e2e.spec.ts has no scenarios/pipeline.js']);
  });

  it('of a command names a script, and benchmarks, evaluations and faults that there are', () => {
    expect(flaws('`npm run bench -- B9 --embedded`, `npm run eval -- routing`, `npm run faults -- poison --controls`')).toEqual(
      Array(3).fill(undefined),
    );
    expect(flaws('`npm run bench -- B77`, `npm run lunch`, `npm run faults -- hunger`')).toEqual([
      'npm run bench knows no B77',
      'package.json has no script "lunch"',
      'npm run faults knows no hunger',
    ]);
  });

  it('of anything else proves nothing', () =>
    expect(flaws('`a word`, `describeLunch`')).toEqual(['this is neither a test nor a command', 'libs/ports has no suite describeLunch']));
});
