import { describe, expect, it } from '@jest/globals';
import { complexityOf } from './complexity/complexity.js';
import { isUnread } from './unread.js';

const plain = { hasHistory: false, hasAttachments: false };

describe('a text that is neither English nor German', () => {
  it.each([
    'Me duele el pecho desde ayer',
    'Mon fils a avalé une pile',
    'Il mio contratto scade domani',
    'Posso misturar esses remédios?',
    'Mijn huisbaas zegt de huur op',
    'Czy mogę brać te leki razem?',
    'Jeg har ondt i maven',
    'Min hyresvärd kastar ut mig',
    'Lääkäri antoi väärän lääkkeen',
    'Göğsüm çok ağrıyor',
    'Tôi bị đau ngực',
    'Obat ini aman untuk bayi?',
    'У меня болит грудь',
    'Με πονάει το στήθος;',
    'صدري يؤلمني',
    'הבן שלי בלע סוללה',
    'मेरे सीने में दर्द है',
    '胸口很痛',
    '薬を飲みすぎました',
    '가슴이 아파요',
    'ผมเจ็บหน้าอก',
    '怎么用 Python 写一个 parser？',
  ])('is at least moderate, and may be about the world: %s', (text) => {
    expect(complexityOf(text, plain)).toMatchObject({ level: 'moderate', factual: true, worldly: true });
    expect(complexityOf(text, plain).signals).toContain('language:unread');
  });

  it('is not code because it ends with a Greek question mark', () => {
    expect(complexityOf('Πού βρίσκεται το μουσείο;', plain).signals).not.toContain('domain:code');
    expect(complexityOf('const a = 1;', plain).signals).toContain('domain:code');
  });
});

describe('a text that can be read', () => {
  it.each([
    'Who won Super Bowl XLIX?',
    'Why do lizards shed skin?',
    'Explain photosynthesis to children',
    'What does 你好 mean?',
    'What does α stand for in physics?',
    'Wann entdeckte Scheele Sauerstoff?',
    'Warum ist der Himmel blau?',
    'Quantum entanglement',
    'Bonjour',
    '42',
    '',
  ])('is in English or German, or too short to tell: %s', (text) => expect(isUnread(text)).toBe(false));
});
