import { describe, expect, it } from '@jest/globals';
import { leastProcessorMs } from '@conclave/test-support';
import { readUtilityPrompt, shapedReply, utilityPromptOf } from './utility-prompt.js';

const chat = '<chat_history>\nUSER: Who founded Northlight?\nASSISTANT: Ada Kern [1].\n</chat_history>';
const prompts = {
  title: `### Task:\nGenerate a concise title.\n### Output:\nJSON format: { "title": "your concise title here" }\n### Examples:\n- { "title": "📉 Stock Trends" }\n### Chat History:\n${chat}`,
  tags: `### Task:\nGenerate 1-3 broad tags.\n\n### Output:\nJSON format: { "tags": ["tag1", "tag2", "tag3"] }\n\n### Chat History:\n${chat}`,
  follow_ups: `### Task:\nSuggest 3-5 questions.\n### Output:\nJSON format: { "follow_ups": ["Question 1?", "Question 2?"] }\n### Chat History:\n${chat}"`,
  queries: `### Task:\nAnalyze the chat history.\n### Guidelines:\n- Or return: { "queries": [] }.\n### Output:\nStrictly return in JSON format: \n{\n  "queries": ["query1", "query2"]\n}\n\n### Chat History:\n${chat}\n`,
  prompt: `### Task:\nGenerate a detailed prompt for an image.\n### Output:\nStrictly return in JSON format: \n{\n    "prompt": "Your detailed prompt here."\n}\n### Chat History:\n${chat}`,
  text: '### Task:\nYou are an autocompletion system. Continue the text in `<text>`.\n\n### **Output Rules**:\n- Respond only in JSON format: `{ "text": "<your_completion>" }`.\n\n### Context:\n<chat_history>\n\n</chat_history>\n<type>search query</type>  \n<text>Northlight clock</text>  \n#### Output:\n',
};

describe('a prompt of a front end', () => {
  it.each(Object.entries(prompts))('for %s is recognised by its structure, with the shape it wants', (member, prompt) => {
    const read = readUtilityPrompt(prompt);
    expect(read?.shape).toEqual({ member, list: ['tags', 'follow_ups', 'queries'].includes(member) });
    if (member !== 'text')
      expect(read?.turns).toEqual([
        { asked: true, text: 'Who founded Northlight?' },
        { asked: false, text: 'Ada Kern [1].' },
      ]);
  });

  it.each([
    [
      'another language, under other names',
      `### Aufgabe:\nFinde einen Titel.\n### Ausgabe:\nJSON: { "titel": "dein Titel" }\n<verlauf>\nUSER: Wer?\nASSISTANT: Ada.\n</verlauf>`,
    ],
    ['no JSON', `### 任务\n写标题\n### 对话\n<chat_history>\nUSER: 谁？\nASSISTANT: 我\n</chat_history>`],
    [
      'the first versions of Open WebUI',
      `Create a concise, 3-5 word title with an emoji as a title for the chat history.\n\nExamples:\n📉 Stock Market Trends\n\n${chat}`,
    ],
    ['an operator who wrote one line', `Titre court, en français.\n${chat}`],
    [
      'LibreChat',
      'Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.\n\nConversation:\nUser: Who?\nAI: Ada.',
    ],
    ['a single turn', `### Task:\nTitle.\n### Output:\n{ "title": "x" }\n<chat_history>\nUSER: Who?\n</chat_history>`],
  ])('is recognised in %s', (_name, prompt) => expect(readUtilityPrompt(prompt)).not.toBeNull());

  const translated = {
    German: {
      title: `### Aufgabe:\nFinde einen kurzen Titel von drei bis fünf Wörtern für das Gespräch.\n### Richtlinien:\n- Schreibe in der Sprache des Gesprächs.\n### Ausgabe:\nJSON-Format: { "title": "dein kurzer Titel" }\n### Beispiele:\n- { "title": "Börsentrends" },\n- { "title": "Das beste Keksrezept" }\n### Gesprächsverlauf:\n${chat}`,
      tags: `### Aufgabe:\nNenne ein bis drei Schlagwörter.\n\n### Richtlinien:\n- Bei wenig Inhalt nur ["Allgemein"].\n\n### Ausgabe:\nJSON-Format: { "tags": ["Schlagwort1", "Schlagwort2"] }\n\n### Gesprächsverlauf:\n${chat}`,
    },
    French: {
      follow_ups: `### Tâche :\nPropose trois à cinq questions que l’utilisateur pourrait poser ensuite.\n### Consignes :\n- Réponds par un objet JSON avec la clé « follow_ups ».\n### Sortie :\nFormat JSON : { "follow_ups": ["Question 1 ?", "Question 2 ?"] }\n### Historique :\n${chat}`,
      queries: `### Tâche :\nDécide si une recherche est nécessaire.\n\n### Consignes :\n- Réponds au format { "queries": ["requête1", "requête2"] }.\n- Sinon : { "queries": [] }.\n- Nous sommes le 24 novembre.\n\n### Sortie :\nUniquement du JSON :\n{\n  "queries": ["requête1", "requête2"]\n}\n\n### Historique :\n${chat}\n`,
    },
    Chinese: {
      title: `### 任务：\n为对话生成简短标题。\n### 要求：\n- 使用对话的语言。\n### 输出：\nJSON 格式：{ "title": "简短标题" }\n### 示例：\n- { "title": "📉 股市趋势" }\n### 对话记录：\n${chat}`,
      标签: `### 任务：\n生成标签。\n### 输出：\n{ "标签": ["标签1", "标签2"] }\n### 对话记录：\n<对话>\nUSER: 谁？\nASSISTANT: 阿达。\n</对话>`,
    },
    Russian: {
      tags: `### Задача:\nПридумай теги.\n\n### Вывод:\nФормат JSON: { "tags": ["тег1", "тег2"] }\n\n### История чата:\n${chat}`,
      text: '### Задача:\nПродолжи текст в `<text>`.\n\n### Правила:\n- Ответ: `{ "text": "<продолжение>" }`.\n\n### Контекст:\n<chat_history>\nUSER: Кто?\nASSISTANT: Ада.\n</chat_history>\n<type>search query</type>  \n<text>часы</text>  \n#### Вывод:\n',
    },
  };
  it.each(
    Object.entries(translated).flatMap(([language, all]) => Object.entries(all).map(([member, prompt]) => [language, member, prompt])),
  )('is recognised in %s, and wants `%s`', (_language, member, prompt) => {
    const list = ['tags', 'follow_ups', 'queries', '标签'].includes(member!);
    if (member === '标签') return expect(readUtilityPrompt(prompt!)?.shape).toEqual({ member, list });
    expect(readUtilityPrompt(prompt!)).toMatchObject({ shape: { member, list }, turns: [{ asked: true }, { asked: false }] });
  });

  it.each([
    ['a question', 'Who founded the Northlight Clock Company?'],
    [
      'a question with documents',
      '### Task:\nRespond to the user query using the provided context, with [id] citations.\n\n### Guidelines:\n- Be clear.\n\n<context>\n<source id="1">{ "title": "A report" }\nUSER manual: x</source>\n</context>\n\n<user_query>\nWho?\n</user_query>',
    ],
    ['a question about JSON', 'What does { "title": "x" } mean? And <b>bold</b>?'],
    ['a document in Markdown', '## Plan\n\n## Costs\nThey rise. <details>more</details>\n\nWhat is missing?'],
    ['a transcript somebody asks about', 'Here is a log:\nUSER: hi\nASSISTANT: hello\nWhat went wrong in it?'],
    ['a report in Markdown', '### What happened\n\nIt fails with { "version": "1.0" }.\n\n### Log\n\n<details>\nlong\n</details>\n'],
    [
      'a question about a document',
      '### Notes\n\n### Format\n{ "name": "x" }\n<notes>\nA long text.\n</notes>\n\nWhat is missing in these notes?',
    ],
    ['a task about titles', 'Compare the titles of nobility in France and Prussia.'],
    ['a long text', `${prompts.title}${'x'.repeat(60_000)}`],
  ])('is not %s', (_name, prompt) => expect(readUtilityPrompt(prompt)).toBeNull());

  it('that declares itself is recognised all the same', () =>
    expect(utilityPromptOf('Merge these answers. Return { "text": "x" }').shape).toEqual({ member: 'text', list: false }));

  it('is read in a time proportional to its length', () => {
    const read = (): void => {
      for (const hostile of [
        '<a>\n'.repeat(14_000),
        Array.from({ length: 7_000 }, (_, n) => `<a${n}>`).join('\n'),
        '{ "a": ['.repeat(7_000),
        '{"a":['.repeat(9_000),
        '### x\n'.repeat(9_000),
        `<a>${'<b>'.repeat(18_000)}`,
        '{"a":"'.repeat(9_000),
      ])
        readUtilityPrompt(hostile);
    };
    expect(leastProcessorMs(1_000, read)).toBeLessThan(1_000);
  });
});

describe('a reply', () => {
  const title = { member: 'title', list: false };
  const tags = { member: 'tags', list: true };
  it.each([
    ['{"title":"Clocks"}', title, '{"title":"Clocks"}'],
    ['Sure!\n```json\n{ "title": "A {b}" }\n```', title, '{"title":"A {b}"}'],
    ['**"Northlight Clocks"**', title, '{"title":"Northlight Clocks"}'],
    ['', title, '{"title":""}'],
    ['{"tags": ["a", 1, "b"]}', tags, '{"tags":["a","b"]}'],
    ['1. Clocks\n2. History\n- Companies', tags, '{"tags":["Clocks","History","Companies"]}'],
    ['{"tags": "a"', tags, '{"tags":[]}'],
  ])('%j becomes JSON of the requested shape', (reply, shape, json) => expect(shapedReply(reply, shape)).toBe(json));
});
