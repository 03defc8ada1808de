import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SearchedFolder } from '../__fixtures__/searched-folder.js';

describe('source code in a folder', () => {
  let at: SearchedFolder;
  beforeEach(() => {
    at = new SearchedFolder();
  });
  afterEach(() => at.end());

  const code = `import os

def later():
    return 1

def retryDelay(attempt):
    """How long the pump waits before it is started again."""
    return 2 ** attempt
`;
  const documents = async (query: string, limit?: number) => (await at.hitsOf(query, limit)).map(({ document }) => document);

  it('is found beside documents, with its path as heading', async () => {
    at.put('README.md', '# Pump\n\nThe pump is started again after a while.');
    at.put('src/pump.py', code);
    at.put('src/other.go', 'package other\n');
    await at.open();
    expect(await documents('When is the pump started again?')).toEqual(['README.md', 'src/pump.py']);
    expect(await at.ask('attempt')).toEqual([
      { title: 'pump.py', url: null, snippet: expect.stringMatching(/^src\/pump\.py: .*def retryDelay/s) },
    ]);
    expect(await documents('delay of a retry')).toEqual(['src/pump.py']);
  });

  it('takes no place of documents that say as much about a question in plain words, and at most the last one', async () => {
    for (let n = 0; n < 6; n += 1) at.put(`${n}.md`, `The pump ${n} is started again after a while.`);
    for (let n = 0; n < 9; n += 1) at.put(`${n}.py`, `# pump is started again ${n}\n`);
    await at.open();
    expect((await documents('When is the pump started again?', 4)).every((path) => path!.endsWith('.md'))).toBe(true);
    for (let n = 0; n < 9; n += 1) at.put(`${n}.py`, `# pump is started again by the watchdog ${n}\n`);
    const found = await documents('When is the pump started again by the watchdog?', 4);
    expect(found.map((path) => path!.split('.')[1])).toEqual(['md', 'md', 'md', 'py']);
  });

  it.each(['What does retryDelay do?', 'What is `retryDelay`?', 'Who calls retryDelay()?'])(
    'comes first where a name of the question is defined: %s',
    async (query) => {
      for (let n = 0; n < 6; n += 1) at.put(`${n}.md`, `The retryDelay ${n} is what calls of the pump wait for.`);
      at.put('use.py', 'retryDelay(1)\n'.repeat(4));
      at.put('pump.py', code);
      await at.open();
      expect(await documents(query, 4)).toEqual([
        'pump.py',
        expect.stringMatching(/md/),
        expect.stringMatching(/md/),
        expect.stringMatching(/md/),
      ]);
    },
  );

  it('does not change the order of documents', async () => {
    at.put('a.md', 'About otters and a beaver.');
    at.put('b.md', 'About beavers and an otter, and otters.');
    await at.open();
    const before = await documents('otter beaver');
    for (let n = 0; n < 50; n += 1) at.put(`${n}.rs`, `struct Otter${n}; // otters otter\n`);
    expect(await documents('otter beaver', 2)).toEqual(before);
  });

  it('that was made by a program, in very long lines, is not searched', async () => {
    at.put('bundle.js', `var otter=1;${'a(b);'.repeat(2_000)}`);
    at.put('long.js', `const otter = 1;\n${'call(b, c);\n'.repeat(2_000)}`);
    await at.open();
    expect(await documents('otter')).toEqual(['long.js']);
  });
});
