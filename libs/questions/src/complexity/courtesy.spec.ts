import { describe, expect, it } from '@jest/globals';
import { asksNothing } from './courtesy.js';

describe('a message that asks nothing', () => {
  it.each([
    'hello',
    'Hi there!',
    'Good morning',
    'Thanks a lot!',
    'thank you very much.',
    'Hello, how are you today?',
    'Who are you?',
    'Hi! What can you do?',
    'bye',
    'Hallo',
    'Guten Tag!',
    'Vielen Dank!',
    'Hallo, wer bist du?',
    'Was kannst du?',
    'Tschüss',
    '¡Hola! ¿Cómo estás?',
    'Merci beaucoup !',
    'Qui es-tu ?',
    'Привет!',
    '你好！',
    'こんにちは。',
    'Γεια σου, καλημέρα!',
  ])('is a greeting, thanks or a question about who answers: %s', (text) => {
    expect(asksNothing(text)).toBe(true);
  });

  it.each([
    'Hello, where was Ada Lovelace born?',
    'Who is Mira Dolt?',
    'What can you do about a leaking roof?',
    'Thanks, and when?',
    'hello world in Python',
    'Help with my taxes',
    'Danke, und wann?',
    'Wer war Ada Lovelace?',
    'Was kannst du mir über Kupfer sagen?',
    'What is 2+2?',
  ])('is not recognised in: %s', (text) => {
    expect(asksNothing(text)).toBe(false);
  });
});
