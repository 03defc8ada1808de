import { describe, expect, it } from '@jest/globals';
import { asksForQuery } from './query-prompt.js';

const chat = 'Human: Who founded Northlight?\nAssistant: Anders Quill.';

describe('a prompt that asks to write a question anew for a search', () => {
  it.each([
    [
      'LangChain',
      `Given the following conversation and a follow up question, rephrase the follow up question to be a standalone question.\n\nChat History:\n${chat}\nFollow Up Input: And when?\nStandalone question:`,
    ],
    [
      'Page Assist, for documents',
      `Given the following conversation and a follow up question, rephrase the follow up question to be a standalone question.   Chat History: ${chat} Follow Up Input: And when? Standalone question:`,
    ],
    [
      'Page Assist, for the web',
      `You will rephrase follow-up questions into concise, standalone search queries optimized for internet search engines.\n\nExamples:\nFollow-up question: Taylor Swift's latest album?\nTaylor Swift latest album\n\nPrevious Conversation:\n${chat}\n\nFollow-up question: And when?\n`,
    ],
    [
      'Cherry Studio',
      `You are an AI question rephraser. Your role is to rephrase follow-up queries from a conversation into standalone queries that can be used by another LLM to retrieve information.\n\n  <conversation>\n  ${chat}\n  </conversation>\n\n  Follow up question: And when?\n  Rephrased question:\n`,
    ],
    [
      'LlamaIndex',
      `Given a conversation (between Human and Assistant) and a follow up message from Human, rewrite the message to be a standalone question that captures all relevant context from the conversation.\n\n<Chat History>\n${chat}\n\n<Follow Up Message>\nAnd when?\n\n<Standalone question>\n`,
    ],
    [
      'RAGFlow',
      `## Role\nA helpful assistant.\n\n## Task & Steps\n1. Generate a full user question that would follow the conversation.\n\n## Real Data\n\n**Conversation:**\n\nUSER: Who founded Northlight?\nUSER: And when?`,
    ],
  ])('is recognised in the words of %s', (_name, prompt) => expect(asksForQuery(prompt)).toBe(true));

  it.each([
    'Rephrase this as a standalone question: And when was it founded?',
    'How do I rewrite a search query so that SQLite uses its index?',
    'Generate a search query for Elasticsearch that finds each conversation of a user.',
    `Summarise this chat.\n\nChat History:\n${chat}`,
    'Why do agents rephrase a follow up question?\n\nConversation: I saw it in LangChain.',
  ])('is not: %j', (question) => expect(asksForQuery(question)).toBe(false));

  it('is read in time proportional to its length', () => {
    const before = process.cpuUsage();
    for (const part of ['rephrase search ', '\n ', ' '.repeat(20), 'rewrite stand-alone', '>#*'])
      asksForQuery(`rephrase the standalone question ${part.repeat(Math.ceil(400_000 / part.length))}`);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_500);
  });
});
