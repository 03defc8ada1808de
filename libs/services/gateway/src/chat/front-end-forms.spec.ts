import { describe, expect, it } from '@jest/globals';
import { parseChatRequest, readChatRequest } from './chat-request.js';

const question = 'What is the daily allowance?';
const leave = 'Employees get 28 days.';
const travel = 'The allowance is 58 EUR.\n\nIt is paid in May.';
const read = (messages: readonly { role: string; content: string }[]) => {
  const { goal, documents, system } = readChatRequest(parseChatRequest({ model: 'conclave', messages }), {}, 50);
  return { goal, documents, system };
};
const asked = (content: string) => read([{ role: 'user', content }]);
const told = (content: string) =>
  read([
    { role: 'system', content },
    { role: 'user', content: question },
  ]);
const texts = ({ documents }: ReturnType<typeof read>) => documents.map(({ title, text, listed }) => [title, text, listed]);

describe('documents in the forms of front ends, around the question of their user', () => {
  it('AnythingLLM: passages in brackets, counted from 0, in the system message', () => {
    const chunk = (name: string, text: string) =>
      `<document_metadata>\nsourceDocument: ${name}\npublished: 1/1/2026\n</document_metadata>\n\n${text}`;
    const quoted = [chunk('handbook.md', leave), chunk('travel.md', travel)].map(
      (text, i) => `[CONTEXT ${i}]:\n${text}\n[END CONTEXT ${i}]\n\n`,
    );
    const taken = told(`Reply with an answer to the current question.\nContext:\n${quoted.join('')}`);
    expect(taken).toMatchObject({ goal: question, system: 'Reply with an answer to the current question.\nContext:' });
    expect(texts(taken)).toEqual([
      ['handbook.md', leave, true],
      ['travel.md', travel, true],
    ]);
  });

  it('LibreChat: files with their name and context as elements, in the system message', () => {
    const file = (name: string, text: string) =>
      `\n          <file>\n            <filename>${name}</filename>\n            <context>\n            <contextItem>\n              <![CDATA[${text}]]>\n            </contextItem>\n            </context>\n          </file>`;
    const names = `<files>\n              <file>\n                <filename>handbook.md</filename>\n                <type>text/markdown</type>\n              </file>\n        </files>`;
    const taken = told(
      `The user has attached files:\n      ${names}\n\n        <context>${file('handbook.md', leave)}${file('travel.md', travel)}\n        </context>\n\n        Use the context.`,
    );
    expect(taken.documents).toMatchObject([
      { title: 'handbook.md', text: expect.stringContaining(leave), listed: true },
      { title: 'travel.md', text: expect.stringContaining(travel), listed: true },
    ]);
    expect(taken.system).toContain('Use the context.');
    expect(taken.system).not.toContain(leave);
  });

  it('Cherry Studio: a list of JSON behind the question, under its own numbers', () => {
    const references = [
      { id: 1, content: leave, sourceUrl: 'https://example.org/leave', type: 'url' },
      { id: 2, content: travel, sourceUrl: '/notes/travel.md', type: 'file' },
    ];
    const json = JSON.stringify(references, null, 2);
    const prompt = (list: string) =>
      `Please answer the question based on the reference materials\n\n## Citation Rules:\n- Please use the format of citation number [number].\n\n## My question is:\n\n${question}\n\n## Reference Materials:\n\n${list}\n\nPlease respond in the same language as the user's question.\n`;
    for (const list of [json, `\`\`\`json\n${json}\n\`\`\``])
      expect(asked(prompt(list))).toEqual({
        goal: question,
        documents: [
          { title: 'example.org', url: 'https://example.org/leave', text: leave },
          { title: '/notes/travel.md', url: null, text: travel },
        ],
        system:
          "Please answer the question based on the reference materials\n\n## Citation Rules:\n- Please use the format of citation number [number].\n\n## Reference Materials:\n\nPlease respond in the same language as the user's question.",
      });
  });

  it('LobeChat: files in a pair of comments behind the question', () => {
    const taken = asked(
      `${question}\n\n<!-- SYSTEM CONTEXT (NOT PART OF USER QUERY) -->\n<context.instruction>Always prioritize handling user-visible content.</context.instruction>\n<files_info>\n<files>\n<files_docstring>here are user upload files you can refer to</files_docstring>\n<file id="file_a1" name="handbook.md" type="text/markdown" size="30" url="https://example.org/h">${leave}</file>\n<file id="file_b2" name="travel.md" type="text/markdown" size="40" url="https://example.org/t">${travel}</file>\n</files>\n</files_info>\n<!-- END SYSTEM CONTEXT -->`,
    );
    expect(taken.goal).toBe(question);
    expect(texts(taken)).toEqual([
      ['handbook.md', leave, true],
      ['travel.md', travel, true],
    ]);
    expect(taken.system).toContain('Always prioritize');
  });

  it('Chatbox: attachments behind the question', () => {
    const file = (name: string, text: string, at: number) =>
      `\n\n<ATTACHMENT_FILE>\n<FILE_INDEX>${at}</FILE_INDEX>\n<FILE_NAME>${name}</FILE_NAME>\n<FILE_KEY>k</FILE_KEY>\n<FILE_LINES>1</FILE_LINES>\n<FILE_SIZE>9 bytes</FILE_SIZE>\n<FILE_CONTENT>\n${text}\n</FILE_CONTENT>\n</ATTACHMENT_FILE>\n`;
    const taken = asked(`${question}${file('handbook.md', leave, 1)}${file('travel.md', travel, 2)}`);
    expect(taken).toMatchObject({ goal: question, system: null });
    expect(texts(taken)).toEqual([
      ['handbook.md', leave, true],
      ['travel.md', travel, true],
    ]);
  });

  it('Chatbox: web pages in brackets', () => {
    const page = `[webpage 1 begin]\nTitle: Travel\nURL: https://example.org/t\nContent: ${travel}\n[webpage 1 end]`;
    expect(told(page).documents).toMatchObject([{ title: 'Travel', url: 'https://example.org/t' }]);
  });

  it('Obsidian Copilot: notes before a labelled question, with numbers and without', () => {
    const found = `# Additional context:\n\n<localSearch>\n<document>\n<id>1</id>\n<title>Travel</title>\n<path>notes/Travel.md</path>\n<content>\n${travel}\n</content>\n</document>\n</localSearch>\n\n<guidance>\nCite.\n</guidance>\n\n---\n\n[User query]:\n\n${question}`;
    expect(asked(found)).toMatchObject({ goal: question, documents: [{ title: 'Travel', text: travel }] });
    expect(asked(found).documents[0]).not.toHaveProperty('listed');
    expect(asked(found).system).toContain('<guidance>');
    const note = `\n\n<note_context>\n<title>Travel</title>\n<path>Travel.md</path>\n<ctime>1</ctime>\n<content>\n${travel}\n</content>\n</note_context>\n\n---\n\n[User query]:\n\n${question}`;
    expect(asked(note)).toEqual({ goal: question, documents: [{ title: 'Travel', url: null, text: travel, listed: true }], system: null });
  });

  it('Page Assist: results counted from 0 in the system message', () => {
    const results = `<search-results>\n <result source="https://example.org/h" id="0">${leave}</result>\n<result source="https://example.org/t" id="1">${travel}</result>\n</search-results>\n`;
    expect(told(`Generate a response.\n\n${results}`)).toEqual({
      goal: question,
      documents: [
        { title: 'example.org', url: 'https://example.org/h', text: leave, listed: true },
        { title: 'example.org', url: 'https://example.org/t', text: travel, listed: true },
      ],
      system: 'Generate a response.',
    });
  });

  it('Perplexica: results with attributes without quotation marks, under its numbers', () => {
    const results = `<context>\n    <search_results note="assistant can cite these">\n<result index=1 title=Staff handbook>${leave}</result>\n<result index=2 title=Travel>${travel}</result>\n</search_results>\n    </context>`;
    expect(texts(told(`Cite.\n\n    ${results}`))).toEqual([
      ['Staff handbook', leave, undefined],
      ['Travel', travel, undefined],
    ]);
  });

  const about =
    "Use the following pieces of context to answer the question at the end. If you don't know the answer, just say that you don't know.";
  it.each([
    ['LangChain', `${about}\n\n${leave}\n\n${travel}\n\nQuestion: ${question}\nHelpful Answer:`],
    ['Page Assist', `${about}  ${leave}\n\n${travel}  Question: ${question} Helpful answer:`],
    ['the hub of LangChain', `You are an assistant.\nQuestion: ${question} \nContext: ${leave}\n\n${travel} \nAnswer:`],
    [
      'LlamaIndex',
      `Context information is below.\n---------------------\n${leave}\n\n${travel}\n---------------------\nGiven the context information and not prior knowledge, answer the query.\nQuery: ${question}\nAnswer: `,
    ],
    ['LobeChat', `The provided context passages:\n\n<context>\n${leave}\n\n${travel}\n</context>\n\nQuestion to answer:\n\n${question}`],
  ])('%s: one text and a labelled question', (_, prompt) => {
    const taken = asked(prompt);
    expect(taken.goal).toBe(question);
    expect(taken.documents).toEqual([{ title: leave, url: null, text: `${leave}\n\n${travel}`, listed: true }]);
    expect(taken.system).not.toContain(leave);
  });

  it('Dify: a context in the system message', () => {
    const prompt = `Use the following context as your learned knowledge.\n\n<context>\n${travel}\n</context>\n\nWhen answer to user:\n- If you don't know, just say so.`;
    expect(told(prompt)).toMatchObject({ documents: [{ title: 'The allowance is 58 EUR.', text: travel, listed: true }] });
    expect(told(prompt).system).not.toContain('58');
  });
});

describe('words of a user that resemble a form', () => {
  it.each([
    ['examples of questions and answers', 'Context of a quiz:\n\nQuestion: 1+1?\nAnswer: 2\nQuestion: 2+2?\nAnswer:'],
    ['a label without a context', `Question: ${question}\nAnswer:`],
    ['a list of JSON to be changed', `Translate this:\n[\n  { "id": 1, "content": "${leave}" }\n]`],
    ['a feed', '<item>\n<title>a</title>\n<link>https://example.org</link>\n<description>b</description>\n</item>\nIs this valid?'],
    ['a file named in an attribute', '<file name="a.py">\nprint(1)\n</file>\nWhat does it print?'],
    ['brackets without an end', '[CONTEXT 0]:\nWhat is this?'],
    ['a comment', '<!-- CONTEXT -->\nWhat is this comment for?'],
    ['a prompt that is to be improved', `Improve this:\n\n${'Be kind. '.repeat(20)}\n\nThe question: why?`],
  ])('stay the question: %s', (_, text) => expect(asked(text)).toEqual({ goal: text, documents: [], system: null }));

  it('and the calls of tools in the system message of a coding agent, such as Cline, are no documents', () => {
    const tools = `## write_to_file\nUsage:\n<write_to_file>\n<path>File path here</path>\n<content>\nYour file content here\n</content>\n</write_to_file>\n\n<apply_diff>\n<args>\n<file>\n  <path>path/to/file</path>\n  <diff>\n    <content>\nx\n</content>\n  </diff>\n</file>\n</args>\n</apply_diff>\n\n<new_task>\n<context>context to preload new task with</context>\n</new_task>`;
    expect(told(tools)).toEqual({ goal: question, documents: [], system: tools });
  });

  it('stay together behind documents, also with a label in them', () => {
    const words = 'This is my homework.\nQuestion: How many days?';
    const taken = asked(`<context>\n<source id="1" name="a">${leave}</source>\n</context>\n\n${words}`);
    expect(taken).toMatchObject({ goal: words, documents: [{ text: leave }], system: null });
  });

  it.each([
    'Question: x\n',
    '[CONTEXT 0]:\n',
    '[CONTEXT 0]:\nx\n[END CONTEXT 0]\n',
    '<note_context>\n<title>x</title>\n',
    '<note_context>\n<title>x</title>\n<content>\n',
    '<note_context></note_context>\n',
    '\n---\n',
    '<context>\n',
    '<!-- CONTEXT -->',
    '[\n',
    '  ',
    ' \n',
    '\r',
    '\u2029',
  ])('take time in proportion to the length of a text of %j', (part) => {
    const text = part.repeat(Math.ceil(400_000 / part.length));
    const before = process.cpuUsage();
    asked(`Use this context.\n\n${text}Question: x\nAnswer:`);
    told(`x${text}`);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
