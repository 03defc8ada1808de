import { describe, expect, it } from '@jest/globals';
import { leastProcessorMs } from '@conclave/test-support';
import { asksForTitle } from './title-prompt.js';

describe('a prompt for the title of a chat', () => {
  it.each([
    ['opencode', 'You are a title generator. You output ONLY a thread title. Nothing else.\n\n<task>\nGenerate a brief title.\n</task>'],
    ['NextChat', 'Please generate a four to five word title summarizing our conversation without any lead-in, punctuation or symbols.'],
    ['LobeChat', 'You are a conversation-savvy assistant. Summarize the conversation into a title within 5 words.'],
    [
      'Cherry Studio',
      "You need to summarize the user's conversation into a title of no more than 10 words, without using punctuation:\nuser: Hi",
    ],
    ['Chatbox', 'Based on the chat history, give this conversation a name.\nKeep it short - 30 characters max.\nUse English.'],
    [
      'LibreChat',
      'Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.',
    ],
    [
      'Vercel’s chatbot',
      'you will generate a short title based on the first message a user begins a conversation with\n- at most 80 characters',
    ],
    ['an agent', 'Generate a concise title (3-7 words) that captures the main topic of this coding session. Return JSON: {"title": "..."}'],
    [
      'Page Assist, behind the chat',
      `Here is the conversation:\n\n--------------\n\n${'Why is the sky blue? '.repeat(60)}\n\n--------------\n\nCreate a concise, 3-5 word phrase as a title for this conversation. RESPOND ONLY WITH THE TITLE TEXT.`,
    ],
    ['others', 'Find a concise title for a conversation between a user and an assistant. Make it shorter than 7 words.\nuser: Hi'],
    ['others', 'You are a helpful assistant that generates concise conversation titles.\n\nGiven the first message, write a title.'],
    ['others', 'You are an expert in crisp conversation titles.\nOutput one title that captures the intent in 8 words.'],
    ['others', 'Produce a concise 4-8 word title summarizing what the user is trying to do below.'],
    ['others', "Generate a 3-6 word title summarizing the user's request. Reply with the title only."],
    ['others', 'Generate a short chat title. Reply ONLY with the title.'],
    ['others', 'Give this conversation a short title of 3-5 words. Reply ONLY with the title.'],
  ])('is recognised in the words of %s: %s', (_name, prompt) => expect(asksForTitle(prompt)).toBe(true));

  it.each([
    'What is a good title for the conversation between Hamlet and Horatio?',
    'Write a short title for the conversation between Romeo and Juliet in act 2.',
    'Write a short story with the title "The conversation".',
    'Suggest three short titles for a novel about a lighthouse keeper. Only the titles.',
    'Give me a short name for the chat app that I am building.',
    'Who holds the title of the oldest message board on the internet? Answer in one word only.',
    'Summarize the discussion of job titles in the following document in 50 words.',
    'You are Bob, a support assistant. Give your name at the start of the conversation. Keep answers short.',
    'You are a helpful assistant. At the start of each chat, generate a short title for the conversation, then answer.',
    'Answer in JSON. The member "title" holds a concise title. Keep the conversation friendly.',
    'You are an editor. Write short titles for articles that the user sends.',
    'Explain the title of this film in one sentence only.',
  ])('is not: %s', (prompt) => expect(asksForTitle(prompt)).toBe(false));

  it('is read in a time proportional to its length', () => {
    const read = (): void => {
      for (const hostile of ['a title '.repeat(8_000), 'the user '.repeat(8_000), 'five-'.repeat(12_000), '\n'.repeat(60_000)])
        asksForTitle(hostile);
    };
    expect(leastProcessorMs(500, read)).toBeLessThan(500);
  });
});
