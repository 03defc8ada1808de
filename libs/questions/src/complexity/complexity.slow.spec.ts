import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { complexityOf } from './complexity.js';

const alone = { hasHistory: false, hasAttachments: false };
const levelOf = (text: string, context = alone) => complexityOf(text, context).level;
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}x`).join(' ');

describe('the complexity of a request', () => {
  it.each(['Evaluate 2+2', 'warum?', 'Why?', 'What does "analyse" mean?', 'Who designed the Eiffel Tower?', 'Analysiere diesen Satz.'])(
    'is not complex because of one word: %s',
    (text) => expect(levelOf(text)).not.toBe('complex'),
  );

  it.each([
    ['§ 242 BGB?', 'domain:law', 'legal_advisor'],
    ['Was steht in § 823?', 'domain:law', 'legal_advisor'],
    ['Can I take ibuprofen with wine?', 'domain:medicine', 'medical_consult'],
    ['Wofür steht E11.9?', 'domain:medicine', 'medical_consult'],
    ['why does `a.map(f)` fail', 'domain:code', 'code_reviewer'],
    ['Is SELECT * FROM t slow?', 'domain:code', 'code_reviewer'],
    ['10.0.0.0/22?', 'number', 'technical_support'],
    ['What is the derivative of x^3?', 'domain:mathematics', 'math'],
  ])('recognises the notation of a field in "%s"', (text, signal, category) => {
    const { level, signals, category: named } = complexityOf(text, alone);
    expect(level).toBe('moderate');
    expect(signals).toContain(signal);
    expect(named).toBe(category);
  });

  it.each([
    ['17.5 % of 2,340?', 'number'],
    ['Evaluate 2+2', 'number'],
    ['7 mal 8', 'number'],
    ['seven plus four', 'tool'],
    ['How many days are there between 1 May and 24 December?', 'number'],
    ['Welcher Wochentag ist der 1.1.2030?', 'number'],
    ['convert 5 miles to km', 'number'],
    ['30 °C in Fahrenheit', 'number'],
    ['SHA-256 of hello', 'number'],
    ['Write a regex for postcodes', 'tool'],
    ['Is 97 a prime number?', 'number'],
    ['What is MCMXC?', 'tool'],
    ['What time is it in Tokyo?', 'tool'],
  ])('leaves "%s" to a tool', (text, signal) => {
    expect(complexityOf(text, alone)).toMatchObject({ level: 'moderate', signals: expect.arrayContaining([signal]) });
  });

  it.each([
    ['In which town was the founder of the Northlight Clock Company born?', 'lookup:hops'],
    ['What is the capital of the country that won the cup?', 'lookup:hops'],
    ['Wie heißt die Mutter des Erfinders der Glühlampe?', 'lookup:hops'],
    ['Who is older, Ada or Grace?', 'lookup:comparison'],
    ['Was ist länger, der Rhein oder die Elbe?', 'lookup:comparison'],
    ['Wie ist das Wetter heute?', 'lookup:now'],
  ])('looks up "%s"', (text, signal) => {
    expect(complexityOf(text, alone)).toMatchObject({ level: 'moderate', signals: expect.arrayContaining([signal]) });
  });

  it('treats one relation as common knowledge', () => {
    expect(levelOf('Who is the author of Moby Dick?')).toBe('trivial');
    expect(levelOf('Wie heißt die Hauptstadt von Kanada?')).toBe('trivial');
  });

  it.each([
    ['Wie viel Ibuprofen darf ein Kind mit 20 kg nehmen?', 'medicine'],
    ['What is the maximum daily dose of paracetamol for an adult?', 'medicine'],
    ['Kann ich Rotwein trinken, wenn ich Bisoprolol nehme?', 'medicine'],
    ['My lips are swollen and I have trouble breathing.', 'medicine'],
    ['Ich will nicht mehr leben.', 'medicine'],
    ['How long do I have to appeal a parking ticket?', 'law'],
    ['Darf mein Arbeitgeber mir im Urlaub kündigen?', 'law'],
    ['Wann verfällt mein Resturlaub bei einer Abfindung?', 'law'],
    ['Brauche ich für die Schenkung einen Notar?', 'law'],
    ['Was tun gegen eine Mahnung vom Inkassobüro?', 'law'],
    ['Does a security deposit earn interest?', 'law'],
    ['Can I mix bleach and vinegar?', 'danger'],
    ['It smells like gas in my kitchen.', 'danger'],
    ['Wie schließe ich eine Steckdose an?', 'danger'],
    ['Can gastritis come back?', 'medicine'],
    ['When may I drive after an arthroscopy?', 'medicine'],
    ['Is a lump behind my knee a bad sign?', 'medicine'],
    ['My period is nine days late. Why?', 'medicine'],
    ['Do hay fever and eczema go together?', 'medicine'],
    ['Is a ketone of 3 high?', 'medicine'],
    ['Can I take Advil with wine?', 'medicine'],
    ['Hilft Wärme bei einer Zerrung?', 'medicine'],
    ['Ist Gürtelrose ansteckend?', 'medicine'],
    ['What are the treatments for trench foot?', 'medicine'],
    ['Is Marfan habitus inherited?', 'medicine'],
    ['Can ginger and turmeric be taken together?', 'medicine'],
    ['How contagious is croup?', 'medicine'],
    ['What is silicosis?', 'medicine'],
    ['What is Hashimoto disease?', 'medicine'],
    ['Who makes levocetirizine?', 'medicine'],
    ['How fast may I lose weight?', 'medicine'],
    ['Welche Behandlung gibt es bei Gicht?', 'medicine'],
    ['Ist Farbenblindheit erblich?', 'medicine'],
    ['Is it safe to eat mouldy bread?', 'medicine'],
    ['Is it safe to take zinc together with milk?', 'medicine'],
    ['Was kostet eine Operation?', 'medicine'],
    ['Wie lange dauert eine Knieoperation?', 'medicine'],
    ['How long is a heart bypass open?', 'medicine'],
  ])('knows without a model that "%s" is about %s', (text, topic) => {
    const { level, safety } = complexityOf(text, alone);
    expect([level, safety]).toEqual(['moderate', expect.arrayContaining([topic])]);
  });

  it.each([
    'Who wrote Crime and Punishment?',
    'What gift suits a gardener?',
    'When did Senator McCain run?',
    'Wie heißt die Hauptstadt von Peru?',
    'How do I boil an egg?',
    'What does nostalgia mean?',
    'How many bones does a shark have?',
    'Which microscopy is cheapest?',
    'Who painted the Head of Christ?',
    'How do I sharpen a knife?',
    'How do I become a police officer?',
    'Was ist Naturalismus?',
    'What is hypnosis?',
    'Why is osmosis slow?',
    'Who was a member of the academia?',
    'How is an inherited method called?',
    'What is an atomic operation?',
    'How can I bypass a firewall?',
    'What is bitwise cooperation?',
    'Is it safe to use this library?',
    'Is it safe to take the night train?',
  ])('sees no danger in "%s"', (text) => expect(complexityOf(text, alone).safety).toEqual([]));

  it.each([
    ['Who is the author of Moby Dick?', true, true],
    ['Who owns the Heron Mill?', true, true],
    ['Can you tell me where Lake Inari is?', true, true],
    ['What is photosynthesis?', true, false],
    ['Was ist ein Adverb?', true, false],
    ['Wer hat die Müritzbrücke gebaut?', true, true],
    ['Write a haiku about autumn.', false, false],
    ['What should I call you?', true, false],
    ['Thanks, that was kind.', false, false],
  ])('decides whether "%s" can be looked up: %s, about the world: %s', (text, factual, worldly) => {
    expect(complexityOf(text, alone)).toMatchObject({ level: 'trivial', factual, worldly });
  });

  it('raises a follow-up that refers to earlier turns, and no other', () => {
    const later = { hasHistory: true, hasAttachments: false };
    for (const text of ['why?', 'And the second one?', 'Kürzer bitte.', 'Und in Österreich?']) {
      expect(complexityOf(text, later)).toMatchObject({ level: 'moderate', signals: expect.arrayContaining(['context:history']) });
    }
    expect(levelOf('warum?')).toBe('trivial');
    expect(levelOf('Thank you!', later)).toBe('trivial');
    expect(levelOf('What is the capital of Peru?', later)).toBe('trivial');
  });

  it('raises any question with an attachment', () => {
    expect(complexityOf('What does this picture show?', { hasHistory: false, hasAttachments: true })).toMatchObject({
      level: 'moderate',
      category: 'vision',
    });
  });

  it('draws the limit of length at 80 words', () => {
    expect(complexityOf(words(80), alone)).toMatchObject({ level: 'complex', signals: expect.arrayContaining(['words>=80']) });
    expect(levelOf(words(79))).toBe('moderate');
    expect(levelOf('天気'.repeat(90))).toBe('complex');
  });

  it('finds whole words in any script, so that neither "für" nor "Klagenfurt" hides one', () => {
    expect(complexityOf('Wo liegt Klagenfurt?', alone).signals).toEqual([]);
    expect(complexityOf('Wie wird ein Gericht mit Käse genannt?', alone).signals).toEqual([]);
    expect(complexityOf("I'm fine!", alone).signals).toEqual([]);
    expect(complexityOf('Führe mich zum Ziel', alone).signals).toEqual([]);
  });

  it('makes the same decision for composed and decomposed letters', () => {
    fc.assert(
      fc.property(fc.constantFrom('Kündigungsfrist?', 'Übersetze "ja"', 'Wie hoch ist die Wärme?'), (text) => {
        expect(complexityOf(text.normalize('NFD'), alone).level).toBe(complexityOf(text.normalize('NFC'), alone).level);
      }),
    );
  });

  it('rates every text, and long ones quickly', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => void complexityOf(text, alone)));
    const parts = [
      'a',
      ' ',
      '\n',
      'a,',
      'a, ',
      'red, green ',
      'x.',
      'Ab ',
      'the a of ',
      '1+',
      '(',
      '`',
      '"',
      'und ',
      'analyse ',
      '§',
      '1.',
      'as ',
      '/ ',
      '%',
      'A1',
    ];
    for (const part of parts) {
      const began = performance.now();
      complexityOf(part.repeat(1_000_000 / part.length), alone);
      expect(performance.now() - began).toBeLessThan(5_000);
    }
  });
});

describe('a topic on which a wrong answer does harm', () => {
  const after = (text: string, ...earlier: readonly string[]) =>
    complexityOf(text, { hasHistory: true, hasAttachments: false, earlier: [...earlier] });

  it.each([
    ['How likely is it to spread?', 'What is throat cancer?'],
    ['What are common types?', 'Tell me about depression medication.'],
    ['Hilft Kamille?', 'Ich habe seit gestern Fieber und Husten.'],
  ])('continues in "%s"', (text, before) => {
    expect(after(text, before)).toMatchObject({ level: 'moderate', safety: ['medicine'] });
    expect(after(text, before).signals).toContain('history:medicine');
    expect(after(text, 'What is a sextant?').safety).toEqual([]);
  });

  it('ends with thanks, with a text of its own, and three turns later', () => {
    const medicine = 'What is throat cancer?';
    for (const text of ['Thanks!', 'Write a poem about spring.', 'Translate "good morning" into French.'])
      expect(after(text, medicine).safety).toEqual([]);
    expect(after('What are common types?', medicine, 'a', 'b').safety).toEqual(['medicine']);
    expect(after('What are common types?', medicine, 'a', 'b', 'c').safety).toEqual([]);
  });
});
