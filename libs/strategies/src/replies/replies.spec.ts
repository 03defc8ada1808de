import { describe, expect, it } from '@jest/globals';
import { en } from '../answer-words/languages/en.js';
import { isEcho } from '../prompts/echoes.js';
import type { Template } from '@conclave/contracts';
import fc from 'fast-check';
import { citedSources, sourceList } from './citations.js';
import { readConfidence, readExpert } from './expert-reply.js';
import { readGap } from './gap-reply.js';
import { InsightFilter, readInsight } from './insight.js';
import { jsonIn } from './json-reply.js';
import { readPlan } from './plan-reply.js';

const template = { experts: { general: {}, math: {} }, capabilities: ['research'] } as unknown as Template;
const plan = (reply: string) => readPlan(reply, template, 'the question');

describe('a plan reply', () => {
  it.each([
    ['bare JSON', '{"tasks":[{"id":"x1","task":"do","capability":"expert.general"}]}'],
    ['a fence with prose around it', 'Sure!\n```json\n{"tasks":[{"id":"x1","task":"do","category":"general"}]}\n```\nDone.'],
    ['a bare array', '[{"id":"x1","task":"do","capability":"expert.general"}]'],
    ['trailing commas and a comment', '{"tasks":[{"id":"x1","task":"do","capability":"expert.general",},], // one\n}'],
    ['other names of the fields', '{"plan":[{"name":"x1","description":"do","expert":"general"}]}'],
    ['single quotes', "{'tasks': [{'id': 'x1', 'task': 'do', 'category': 'general', 'needs': []}]}"],
    ['keys without quotes', '{tasks: [{id: "x1", task: "do", category: "general"}]}'],
    ['typographic quotes', '{“tasks”: [{“id”: “x1”, “task”: “do”, “category”: “general”}]}'],
    ['a line break in a string', '{"tasks":[{"id":"x1","task":"do","why":"first\nthe rest","category":"general"}]}'],
    ["Python's words", "Plan: {'tasks': [{'id': 'x1', 'task': 'do', 'category': 'general', 'needs': None, 'final': True}]}"],
    ['a missing end', '```json\n{"tasks":[{"id":"x1","task":"do","category":"general"}'],
    ['a missing comma', '{"tasks":[{"id":"x1" "task":"do" "category":"general"}]}'],
    ['another fence', '~~~json\n{"tasks":[{"id":"x1","task":"do","category":"general"}]}\n~~~'],
    ['a JSON string', JSON.stringify('{"tasks":[{"id":"x1","task":"do","category":"general"}]}')],
    ['a list of one plan', '[{"tasks":[{"id":"x1","task":"do","category":"general"}]}]'],
    ['a wrapping', '{"response":{"tasks":[{"id":"x1","task":"do","category":"general"}]}}'],
    ['a plan in a plan', '{"thought":"easy","plan":{"tasks":[{"id":"x1","task":"do","category":"general"}]}}'],
    ['a form before it', 'In the form {"tasks": [...]}, as you asked: {"tasks":[{"id":"x1","task":"do","category":"general"}]}'],
    [
      'a form before it, with single quotes',
      "In the form {'tasks': [...]}: {'tasks': [{'id': 'x1', 'task': 'do', 'category': 'general'}]}",
    ],
    ['YAML', 'tasks:\n  - id: x1\n    task: do\n    category: general\n    needs: []\n'],
    ['YAML at the margin', 'tasks:\n- id: x1\n  task: do\n  capability: expert.general\n  args: {"a": 1}'],
    ['a list in YAML', '- id: x1\n  task: do\n  category: general'],
    [
      'a fence of YAML with prose around it',
      'Here: [a plan]\n\n```yaml\ntasks:\n  - id: x1\n    task: do\n    category: general\n```\nDone.',
    ],
    ['a fence without a language and an end', '```\nplan:\n  - name: x1\n    description: do\n    expert: general\n'],
    ['YAML after an introduction', 'Here is my plan:\n\ntasks:\n  - id: x1\n    task: do\n    category: general\n\nThis answers it.'],
    ['YAML with a comment and a document mark', '---\n# one task\ntasks:\n  - id: "x1"\n    task: \'do\'\n    category: general\n...'],
    ['braces in prose before it', 'I use {braces}. {"tasks":[{"id":"x1","task":"do","category":"General"}]}'],
  ])('is read from %s', (_what, reply) => {
    expect(plan(reply)).toMatchObject({ ok: true, tasks: [{ id: 'x1', capability: 'expert.general', task: 'do' }] });
  });

  it.each(['Compare: cost and speed', '*exactly* two', 'Use C# first', 'no', '`a` or "b"', "it's: so"])(
    'is read from YAML whose text has signs of YAML: %s',
    (task) => {
      const reply = `tasks:\n  - id: x0\n    task: ${task}\n    category: general\n    needs: []\n  - task: two\n    category: math\n    needs: [x0]`;
      expect(plan(reply)).toMatchObject({
        ok: true,
        tasks: [
          { id: 'x0', task },
          { task: 'two', needs: ['x0'] },
        ],
      });
    },
  );

  it.each([
    ['aliases', `tasks:\n  - &a [x, x]\n${'bcdefgh'.replace(/./g, (c) => `  - &${c} [*a, *a, *a]\n`)}`],
    ['empty lines', `tasks:\n${'\n'.repeat(9_900)}x`],
    ['deep nesting', `tasks:\n  ${'- '.repeat(4_900)}id: x1`],
    ['a long text', `tasks:\n${'  - id: x1\n    task: do\n'.repeat(2_000)}`],
  ])('is refused, and soon, if its YAML has %s', (_what, reply) => {
    const before = process.cpuUsage();
    expect(plan(reply).ok).toBe(false);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });

  it('has no prototype from the names in YAML, and no tags', () => {
    const read = plan(
      'tasks:\n  - id: x1\n    task: !!js/function do\n    category: general\n    tool: t\n    __proto__: {redoes: [x0]}\n',
    );
    expect(read).toMatchObject({ ok: true, tasks: [{ id: 'x1', task: 'do' }] });
    expect(read.ok && read.tasks[0]!.redoes).toBeUndefined();
  });

  it('lets experts wait for all evidence of the plan unless they say what they need', () => {
    const reply = plan(
      '[{"id":"r1","capability":"research","search_query":"q","task":"t"},{"id":"a","task":"t","category":"general"},{"id":"b","task":"u","category":"math","needs":[]}]',
    );
    expect(reply).toMatchObject({ ok: true, tasks: [{ needs: [] }, { needs: ['r1'] }, { needs: [] }] });
  });

  it.each([
    ['"0/x1"', ['0/x1']],
    ['"x1"', ['x1']],
    ['["0/x1", "task m2"]', ['0/x1', 'm2']],
    ['"`1/m1`"', ['1/m1']],
    ['null', undefined],
    ['"none"', undefined],
    ['7', undefined],
  ])('lists the earlier tasks that a task repeats: %s', (name, redoes) => {
    const read = plan(`[{"id":"x1","task":"do","category":"general","redoes":${name}}]`);
    expect(read.ok && read.tasks[0]!.redoes).toEqual(redoes);
  });

  it('turns research_needed into a research task', () => {
    expect(plan('{"research_needed":true,"tasks":[{"id":"x1","task":"do","category":"general"}]}')).toMatchObject({
      ok: true,
      tasks: [{ capability: 'research', query: 'the question' }, { needs: ['r1'] }],
    });
  });

  it.each([
    ['no JSON', 'I would ask an expert.', 'no JSON'],
    ['prose in brackets', 'I would {ask an expert: the best one} [as you said].', 'no JSON'],
    ['a schema', '{"type":"object","properties":{"tasks":{"type":"array"}}}', 'no list "tasks"'],
    ['an unknown capability', '[{"id":"x","task":"t","capability":"shell.run"}]', 'unknown capability'],
    [
      'a circle',
      '[{"id":"a","task":"t","category":"general","needs":["b"]},{"id":"b","task":"t","category":"math","needs":["a"]}]',
      'circle',
    ],
    ['too many experts', JSON.stringify(['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, task: id, category: 'general' }))), 'at most 4'],
    ['a need that is not there', '[{"id":"a","task":"t","category":"general","needs":["z"]}]', 'not in the plan'],
    ['no task at all', '{"tasks":[]}', 'no task'],
  ])('is refused with a sentence for %s', (_what, reply, sentence) => {
    const read = plan(reply);
    expect(read.ok).toBe(false);
    expect(!read.ok && read.faults.join(' ')).toContain(sentence);
  });

  it('never throws and never lets a key reach a prototype', () => {
    fc.assert(fc.property(fc.string(), (text) => void plan(text)));
    expect(jsonIn('{"__proto__":{"polluted":1}}')).toBeDefined();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('a plan of a weak model', () => {
  const offering = {
    ...template,
    capabilities: ['math', 'mcp'],
    tools: [{ name: 'dates.days', signature: '', description: '' }],
  } as typeof template;
  const planned = (...tasks: readonly object[]) => readPlan(JSON.stringify({ tasks }), offering, 'How old is it?');

  it('does without what cannot be looked up here, if an expert answers', () => {
    expect(
      planned(
        { id: 'r1', task: 'Find it', capability: 'research', search_query: 'it' },
        { id: 'x1', task: 'Say it', capability: 'expert.general', needs: ['r1'] },
      ),
    ).toMatchObject({ ok: true, tasks: [{ id: 'x1', capability: 'expert.general', needs: [] }] });
  });
  it('that only looks up what cannot be looked up here becomes the task of an expert', () => {
    expect(planned({ id: 'r1', task: 'Find it', capability: 'research', search_query: 'it' })).toMatchObject({
      ok: true,
      tasks: [{ id: 'r1', capability: 'expert.general', task: 'Find it', query: null }],
    });
  });
  it('gives tasks with the same id ids of their own; whoever needs it needs the first', () => {
    const [one, two, three, four] = ['A', 'B', 'C', 'D'].map((task) => ({
      id: 'x1',
      task,
      capability: 'expert.general',
      needs: [] as string[],
    }));
    expect(planned(one!, two!, { ...three!, id: 'x1-2' }, { ...four!, id: 'x2', needs: ['x1'] })).toMatchObject({
      ok: true,
      tasks: [{ id: 'x1' }, { id: 'x1-3' }, { id: 'x1-2' }, { id: 'x2', needs: ['x1'] }],
    });
  });
  it('asks once what a plan repeats; whoever needs a repetition needs the first', () => {
    const task = { task: 'Say it', capability: 'expert.general', needs: [] as string[] };
    const last = { id: 'x4', task: 'Sum up', capability: 'expert.general', needs: ['x2', 'x3'] };
    const plan = planned({ id: 'x1', ...task }, { id: 'x2', ...task }, { id: 'x3', ...task, task: 'Say why' }, last);
    expect(plan).toMatchObject({ ok: true, tasks: [{ id: 'x1' }, { id: 'x3' }, { id: 'x4', needs: ['x1', 'x3'] }] });
    expect(planned(...Array.from({ length: 12 }, (_, n) => ({ id: `x${n}`, ...task })))).toMatchObject({ tasks: [{ id: 'x0' }] });
  });
  it('takes an example of the prompt for the task only beside other tasks, or if the question names its numbers', () => {
    const example = {
      id: 't1',
      task: '17.5 % of 2,340',
      capability: 'math',
      mcp_tool: 'evaluate',
      mcp_args: { expression: '0.175 * 2340' },
    };
    expect(planned(example)).toMatchObject({ tasks: [{ capability: 'expert.general', task: 'How old is it?' }] });
    const other = { id: 't2', task: '3 + 4', capability: 'math', mcp_tool: 'evaluate', mcp_args: { expression: '3 + 4' } };
    expect(planned(example, other)).toMatchObject({ tasks: [{ capability: 'math', task: '17.5 % of 2,340' }, { id: 't2' }] });
    const asked = readPlan(JSON.stringify({ tasks: [example] }), offering, 'What is 17.5 % of 2,340?');
    expect(asked).toMatchObject({ tasks: [{ capability: 'math', task: '17.5 % of 2,340', args: { expression: '0.175 * 2340' } }] });
  });
  it('still names what does not exist at all', () => {
    expect(planned({ id: 'x1', task: 'Say it', capability: 'expert.wizard' })).toMatchObject({ ok: false });
  });
  it('runs the tool that it names as an operation of mathematics', () => {
    expect(planned({ id: 't1', task: 'Count', capability: 'math', mcp_tool: 'days', mcp_args: { from: 'a' } })).toMatchObject({
      tasks: [{ capability: 'mcp', tool: 'dates.days', args: { from: 'a' } }],
    });
    expect(planned({ id: 't1', task: 'Count', capability: 'math', mcp_tool: 'solve' })).toMatchObject({
      tasks: [{ capability: 'math', tool: 'solve' }],
    });
  });
  it.each([
    ['another number in it', 'Find the figures for 2026-11-27', 'How old is it?', true],
    ['the number of the question in it', 'Find the figures for 2024', 'How many heat pumps were sold in 2024?', false],
    ['other words in it', 'Find the prices for 2026-11-27', 'How old is it?', false],
  ])('asks the question where it copies the examples of the prompt with %s', (_what, task, question, isCopied) => {
    const found = { id: 'r1', task, capability: 'research', search_query: 'age of the mill' };
    const meant = { id: 'x1', task: 'Say what the figures mean for a buyer with 10,000 euros', capability: 'expert.general' };
    expect(readPlan(JSON.stringify({ tasks: [found, meant] }), template, question)).toMatchObject({
      tasks: [
        { task: isCopied ? question : task, query: 'age of the mill' },
        { id: 'x1', task: question },
      ],
    });
  });

  it('asks the question where it copies the words of the format', () => {
    const copied = { task: 'What the expert is to answer', capability: 'expert.general' };
    expect(planned({ id: 'x1', ...copied })).toMatchObject({ tasks: [{ task: 'How old is it?' }] });
    const searched = { id: 'r1', task: 'What to find out', capability: 'research', search_query: 'words to search' };
    expect(plan(JSON.stringify({ tasks: [searched, { ...copied, id: 'x1' }, { ...searched, id: 'r2' }] }))).toMatchObject({
      tasks: [
        { id: 'r1', capability: 'research', query: 'the question' },
        { id: 'x1', task: 'the question' },
      ],
    });
    const other = { id: 'x3', task: 'Say it', capability: 'expert.general' };
    expect(planned({ id: 'x1', ...copied }, { id: 'x2', ...copied, capability: 'expert.math' }, other)).toMatchObject({
      tasks: [{ id: 'x1', task: 'How old is it?' }, { id: 'x3' }],
    });
  });
});

describe('a copy of the words in a prompt', () => {
  it.each([
    'words to search',
    'What it is about, a few words.',
    'what the expert is to answer',
    'its id',
    'the working memory, brought up to date',
    'Explain it.',
  ])('is recognised: %s', (text) => expect(isEcho(text)).toBe(true));
  it.each(['How old is it?', 'general', 'compare', '', 'Words to search for in German dictionaries', '17.5 % of 2,340'])(
    'is not: %s',
    (text) => expect(isEcho(text)).toBe(false),
  );
});

describe('JSON without its end', () => {
  it('is read as a whole if only brackets are missing', () =>
    expect(jsonIn('Plan: {"tasks":[{"id":"a","task":"first"},{"id":"b","task":"second"')).toEqual({
      tasks: [
        { id: 'a', task: 'first' },
        { id: 'b', task: 'second' },
      ],
    }));
  it('is not read if it was cut off, and neither is the first value inside it', () =>
    expect(jsonIn('{"tasks":[{"id":"a","task":"first"},{"id":"b","task":"sec')).toBeUndefined());
});

describe('an expert reply', () => {
  it('separates text, finding, confidence, gaps and referrals', () => {
    expect(
      readExpert('It is B.\n\n**Finding:** B is the place.\n**Confidence:** 85 %\n- GAPS: the year; the river\nREFER: Legal Advisor'),
    ).toEqual({
      text: 'It is B.',
      finding: 'B is the place.',
      confidence: 0.85,
      gaps: ['the year', 'the river'],
      refer: ['legal_advisor'],
    });
  });

  it.each(['无', 'Ninguno.', 'aucun', 'No hay ninguna', 'нет', 'なし', 'Nenhum', "il n'y en a pas"])(
    'has no gap where it says %s',
    (none) => {
      expect(readExpert(`B\nCONFIDENCE：0.8\nGAPS: ${none}\nREFER: ${none}`)).toMatchObject({
        confidence: 0.8,
        gaps: [],
        refer: [],
        text: 'B',
      });
      expect(readGap(`COMPLETION_STATUS: COMPLETE\nGAP: ${none}\nNEXT_FOCUS: -`)).toMatchObject({ verdict: 'complete', parsed: true });
    },
  );

  it.each([
    ['0.8', 0.8],
    ['0,8', 0.8],
    ['80%', 0.8],
    ['8/10', 0.8],
    ['High', 0.9],
    ['medium.', 0.6],
    ['low', 0.3],
    ['95', 0.95],
    ['2 / 0', 0.6],
    [undefined, 0.6],
    ['**high**', 0.9],
    ['0.8 (high)', 0.8],
    ['high | medium | low', 0.6],
    ['<0-1>', 0.6],
    ['0.0 to 1.0', 0.6],
  ])('reads the confidence %s as %d', (value, expected) => {
    expect(readConfidence(value)).toBeCloseTo(expected);
  });

  it('uses the first two sentences as the finding if none is marked', () => {
    expect(readExpert('One. Two! Three?').finding).toBe('One. Two!');
  });
});

describe('a gap reply', () => {
  it('is read in the exact format', () => {
    expect(readGap('COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: birthplace of A\nNEXT_FOCUS: Where was A born?')).toEqual({
      verdict: 'needs_more_info',
      gap: 'birthplace of A',
      nextFocus: 'Where was A born?',
      parsed: true,
    });
  });
  it.each([
    'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none',
    'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: none\nNEXT_FOCUS: x',
    '**Completion_Status:** needs_more_info\n**Gap:** "none".',
    'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP:\nNEXT_FOCUS: What else?',
  ])('ends the loop for %j', (reply) => {
    expect(readGap(reply)).toMatchObject({ verdict: 'complete', parsed: true });
  });
  it('is read if the gap is on the line after its marker', () => {
    expect(readGap('COMPLETION_STATUS: NEEDS_MORE_INFO\n## GAP:\n- birthplace of A\n**NEXT_FOCUS**: none')).toMatchObject({
      gap: 'birthplace of A',
      nextFocus: 'birthplace of A',
    });
  });
  it.each([
    ['{"GAP": "birthplace of A", "COMPLETION_STATUS": "NEEDS_MORE_INFO", "NEXT_FOCUS": "Where was A born?"}', 'needs_more_info'],
    ['{"GAP": "none", "COMPLETION_STATUS": "COMPLETE", "NEXT_FOCUS": "none"}', 'complete'],
  ])('is read in the form that servers enforce: %s', (reply, verdict) => {
    expect(readGap(reply)).toMatchObject({ verdict, parsed: true });
  });
  it('does not count as complete if the format was only repeated', () => {
    expect(readGap('COMPLETION_STATUS: COMPLETE | NEEDS_MORE_INFO\nGAP: x')).toMatchObject({ verdict: 'complete', parsed: false });
  });
  it('falls back to complete, and reports that it could not be read', () => {
    expect(readGap('The answer looks good to me.')).toEqual({ verdict: 'complete', gap: '', nextFocus: '', parsed: false });
  });
});

describe('the insight block', () => {
  const whole =
    'Both agree.<SYNTHESIS_INSIGHT>{"summary":"A equals B","entities":["A","B"],"insight_type":"comparison"}</SYNTHESIS_INSIGHT>';
  it('is removed and read wherever the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 12 }), (cuts) => {
        const filter = new InsightFilter();
        const points = [0, ...cuts.sort((a, b) => a - b), whole.length];
        let shown = '';
        for (let i = 1; i < points.length; i += 1) shown += filter.push(whole.slice(points[i - 1], points[i]));
        const end = filter.end();
        expect(shown + end.shown).toBe('Both agree.');
        expect(readInsight(end.block).insight).toMatchObject({ summary: 'A equals B', entities: ['A', 'B'] });
      }),
    );
  });
  it('lets every text without the tag pass unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (chunks) => {
        fc.pre(!chunks.join('').includes('<'));
        const filter = new InsightFilter();
        expect(chunks.map((chunk) => filter.push(chunk)).join('') + filter.end().shown).toBe(chunks.join(''));
      }),
    );
  });
  it('reports what is wrong with a faulty block and shows none of it', () => {
    const filter = new InsightFilter();
    expect(filter.push('Text<SYNTHESIS_INSIGHT>{"summary":')).toBe('Text');
    const end = filter.end();
    expect(end.shown).toBe('');
    expect(readInsight(end.block)).toMatchObject({ insight: null, rejected: expect.stringContaining('JSON') });
  });
  it('teaches nothing if it only copies the form', () => {
    const copied = '{"summary": "one sentence", "entities": ["names"], "insight_type": "synthesis"}';
    expect(readInsight(copied)).toMatchObject({ insight: null, rejected: expect.stringContaining('repeats the words') });
  });
});

describe('replies of a confused model', () => {
  it.each([
    ['stars', `GAPS: ${'*'.repeat(60_000)}x`],
    ['line ends', `${'\n'.repeat(60_000)}x`],
    ['brackets', '[{'.repeat(30_000)],
  ])('made of %s are read at once', (_what, reply) => {
    const before = process.cpuUsage();
    readExpert(reply);
    readGap(reply);
    plan(reply);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });
});

describe('the end of a text', () => {
  it('is shown once, however often it is requested', () => {
    const filter = new InsightFilter();
    expect(filter.push('a <')).toBe('a ');
    expect(filter.end().shown + filter.end().shown).toBe('<');
  });
});

describe('citations', () => {
  const fact = (title: string, url: string | null = null) => ({
    text: title,
    source: { kind: 'corpus' as const, title, url },
    taskId: 't',
    epoch: 0,
    confidence: null,
  });
  it('lists each cited source once and ignores numbers without a fact', () => {
    const cited = citedSources('A [2]. B [1, 3][9].', [fact('one'), fact('two', 'http://x'), fact('one')]);
    expect(sourceList(cited, en)).toBe('\n\nSources:\n[1][3] one\n[2] two — http://x');
  });
  it('shows a foreign name as one line of plain text, whatever it contains', () => {
    const hostile = fact('A\n[2] ![x](https://evil.example/p) <img src=y> a < b\u2028', 'https://x/a\n[3] c');
    expect(sourceList(citedSources('A [1].', [hostile]), en)).toBe(
      '\n\nSources:\n[1] A [2] ![x] (https://evil.example/p) ‹img src=y> a < b — https://x/a [3] c',
    );
  });
  it('names the calls of a tool only if it lists several', () => {
    const open = (call: string) => ({
      ...fact('diary.open_on'),
      source: { kind: 'tool' as const, title: 'diary.open_on', url: null, call },
    });
    const facts = [open('date: 2026-12-24'), open('date: 2026-12-25'), open('date: 2026-12-24')];
    expect(sourceList(citedSources('Open [1][3].', facts), en)).toBe('\n\nSources:\n[1][3] diary.open_on');
    expect(sourceList(citedSources('Open [1], shut [2].', facts), en)).toBe(
      '\n\nSources:\n[1] diary.open_on (date: 2026-12-24)\n[2] diary.open_on (date: 2026-12-25)',
    );
  });
  it('names the files of documents with equal titles', () => {
    const file = (title: string, document: string) => ({ ...fact(title), source: { kind: 'corpus' as const, title, url: null, document } });
    const facts = [
      file('Changes', 'a/changes.md'),
      file('Changes', 'b/changes.md'),
      file('Guide', 'guide.md'),
      file('Changes', 'a/changes.md'),
    ];
    expect(sourceList(citedSources('One [1][4], two [2], three [3].', facts), en)).toBe(
      '\n\nSources:\n[1][4] Changes (a/changes.md)\n[2] Changes (b/changes.md)\n[3] Guide',
    );
  });
  it('has no list if nothing is cited', () => {
    expect(sourceList(citedSources('Nothing.', [fact('one')]), en)).toBe('');
  });
});
