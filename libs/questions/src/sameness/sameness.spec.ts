import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { normaliseQuestion } from './normalise.js';
import { readQuestion } from './reading.js';
import { sameQuestion } from './sameness.js';

const kinds = (a: string, b: string) => sameQuestion(a, b).differences.map((difference) => difference.split(':')[0]);

describe('two questions', () => {
  it.each([
    ['¿Qué equipo ganó a Ajax?', '¿A qué equipo ganó Ajax?', 'language'],
    ['Кто обогнал Анну?', 'Кого обогнал Анну?', 'language'],
    ['房间12的价格', '房间14的价格', 'language'],
    ['音量调到百分之', '音量调到百分之95', 'language'],
    ['How long is 5 km?', 'How long is 5 miles?', 'number'],
    ['Convert it to km', 'Convert it to miles', 'unit'],
    ['What is 2 + 2?', 'What is 2 - 2?', 'operator'],
    ['How much is 5 mW?', 'How much is 5 MW?', 'number'],
    ['What is 1,000 times 2?', 'What is 10,000 times 2?', 'number'],
    ['Was sind zwei Drittel von neun?', 'Was sind zwei Drittel von zwölf?', 'number'],
    ['What happened on 3 May 1999?', 'What happened on 5 March 1999?', 'date'],
    ['Is it open at 9 am?', 'Is it open at 9 pm?', 'number'],
    ['Wer war Johann Strauss?', 'Wer war Richard Strauss?', 'word'],
    ['How do I call useState here?', 'How do I call useEffect here?', 'word'],
    ['What does "affect" mean?', 'What does "effect" mean?', 'quote'],
    ['What does `a == b` do?', 'What does `a === b` do?', 'quote'],
    ['Which birds can fly?', "Which birds can't fly?", 'negation'],
    ['Which birds can fly?', 'Which birds can’t fly?', 'negation'],
    ['Why will it start?', "Why won't it start?", 'negation'],
    ['Brot mit Hefe?', 'Brot ohne Hefe?', 'negation'],
    ['Which files are used?', 'Which files stay unused?', 'word'],
    ['Welche Dateien werden benutzt?', 'Welche Dateien bleiben unbenutzt?', 'word'],
    ['When can I apply?', 'When must I apply?', 'opposite'],
    ['Could you tell me when I can apply?', 'Could you tell me when I must apply?', 'opposite'],
    ['Do I have to wear a helmet?', 'Am I allowed to wear a helmet?', 'opposite'],
    ['Was darf ich mitnehmen?', 'Was muss ich mitnehmen?', 'opposite'],
    ['How many seconds are in a day?', 'How many minutes are in a day?', 'unit'],
    ['Is python written in c?', 'Is c written in python?', 'order'],
    ['Why do parents lie to children?', 'Why do children lie to parents?', 'order'],
    ['How do I go to Oslo?', 'How do I describe Oslo?', 'word'],
    ['How do I take the pill?', 'How do I get the pill?', 'word'],
    ['What does the method do?', 'What does the method mean?', 'word'],
    ['What do I need for a visa?', 'What do I need a visa for?', 'order'],
    ['Wie heißt die Formel?', 'Was bedeutet die Formel?', 'question'],
    ['What is a short circuit?', 'What is a circuit?', 'scope'],
    ['What is current?', 'What is a method?', 'word'],
    ['Ist Kaffee gesund?', 'Ist zu viel Kaffee gesund?', 'scope'],
    ['All states except Texas', 'All states including Texas', 'negation'],
    ['Increase the volume', 'Decrease the volume', 'opposite'],
    ['Was kommt vor Dienstag?', 'Was kommt nach Dienstag?', 'opposite'],
    ['Where was Mozart born?', 'When was Mozart born?', 'question'],
    ['Trains from Rome to Bari?', 'Trains from Bari to Rome?', 'order'],
    ['Warum liebt Anna Tom?', 'Warum liebt Tom Anna?', 'order'],
    ['Does stress cause insomnia?', 'Does insomnia cause stress?', 'order'],
    ['Wer schlug Napoleon?', 'Wen schlug Napoleon?', 'order'],
    ['Not red but blue?', 'Not blue but red?', 'negation'],
    ['Mit Zucker ohne Milch?', 'Ohne Zucker mit Milch?', 'negation'],
    ['Is A taller than B?', 'Is B taller than A?', 'order'],
    ['ist gold schwerer als blei', 'ist blei schwerer als gold', 'order'],
    ['Who owns it?', 'Who owned it?', 'word'],
    ['Who won?', 'Who will win?', 'tense'],
    ['Who wrote Hamlet?', 'Who wrote about Hamlet?', 'word'],
    ['Where is my order?', 'Where is her order?', 'word'],
    ['Is it safe for children?', 'Is it safe for pregnant women?', 'word'],
    ['Is it allowed?', 'Is it required?', 'word'],
    ['Who is the pope?', 'Who was the pope?', 'tense'],
    ['What is the boiling point?', 'What is the boiling point at high altitude?', 'scope'],
    ['Was ist Liebe?', 'What is love?', 'language'],
    ['What do cats eat?', 'What do goats eat?', 'word'],
    ['Who led the blue rowing club of Turku?', 'Who led the green chess club of Turku?', 'word'],
    ['How high is the wage?', 'What is the wage?', 'scope'],
    ['Who won in May 1968?', 'Who won in 1968?', 'number'],
    ['What does a surgeon in the US earn?', 'What does a surgeon earn?', 'scope'],
    ['Which courses suit IT students?', 'Which courses suit students?', 'scope'],
    ['What is the longest train route?', 'What is the longest train?', 'scope'],
    ['What is zinc?', 'What is zinc good for?', 'scope'],
    ['What is algebra?', 'What is algebra for?', 'scope'],
    ['Who is a dentist in Bonn?', 'Who is the best dentist in Bonn?', 'scope'],
    ['What is yeast?', 'What is the use of yeast?', 'scope'],
    ['What is a notary?', 'What does a notary do?', 'question'],
    ['What is malt?', 'What does malt contain?', 'scope'],
    ['What is a flat tyre?', 'What happens when you have a flat tyre?', 'scope'],
    ['How old is the bridge?', 'What is the bridge?', 'question'],
    ['How much money does the club make?', 'How does the club make money?', 'question'],
    ['What is the way to get a good mark?', 'What is a good mark?', 'question'],
    ['How is it to work at sea?', 'How can I work at sea?', 'question'],
    ['Who won?', 'Who won, and why?', 'question'],
    ['Can hens fly?', 'Can hens fly? If so, why?', 'question'],
    ['How are rules made?', 'How and by whom are rules made?', 'question'],
    ['Does love last?', 'Should love last?', 'opposite'],
    ['Why do men wear hats?', "Why can't men wear hats?", 'opposite'],
    ['Will they sign the treaty?', 'Should they sign the treaty?', 'opposite'],
    ['How did you learn to swim?', 'How can I learn to swim?', 'tense'],
    ['What is trust?', 'What is trust to you?', 'person'],
    ['What did the bank do?', 'What did the bank do to itself?', 'person'],
    ['Will the court hear the case?', 'Will the court hear the case with me?', 'person'],
    ['Was bedeutet Heimat?', 'Was bedeutet Heimat für dich?', 'person'],
    ['What is it like to be a twin?', 'What is it like to have a twin?', 'word'],
    ['What is a kiss?', 'What is in a kiss?', 'order'],
    ['How does the museum earn money?', 'How do I earn money from the museum?', 'order'],
    ['What may I do in Rome but not in Bari?', 'What may I do in Bari but not in Rome?', 'order'],
    ['Can I use oil as butter?', 'Can I use butter as oil?', 'order'],
    ['Can one be rich without being happy?', 'Can one be happy without being rich?', 'negation'],
    ['How do I convert miles to yards?', 'How do I convert yards to miles?', 'order'],
    ['Does it fit a Galaxy 5?', 'Does it fit a Galaxy 5s?', 'unit'],
    ['Does it fit a Pixel 4?', 'Does it fit a Pixel 4a?', 'number'],
  ])('"%s" and "%s" differ by their %s', (a, b, kind) => {
    expect(kinds(a, b)).toContain(kind);
    expect(kinds(b, a)).toContain(kind);
  });

  it.each([
    ['How many hosts are in 2,340 nets?', 'how many hosts are in 2340 nets'],
    ['What happened on 9 November 1989?', 'What happened on November 9th, 1989?'],
    ['Was geschah am 9. November 1989?', 'Was geschah am 09.11.1989?'],
    ['Who won World War II?', 'Who won World War 2?'],
    ['Is it open at 9 pm?', 'Is it open at 21:00?'],
    ['What is 15 % of 80?', 'How much is fifteen percent of 80?'],
    ['In 2014, who won the cup?', 'Who won the cup in 2014?'],
    ["Who is Brazil's president?", 'Who is the president of Brazil?'],
    ['Compare Rome and Bari', 'Compare Bari and Rome'],
    ['When must I apply?', 'Could you tell me when I must apply?'],
    ['How can I apply?', 'How do I apply?'],
    ['In which year was it built?', 'When was it built?'],
    ['Is coffee with milk from Kenya good?', 'Is coffee from Kenya with milk good?'],
    ['Wie setze ich es zurück?', 'Wie kann ich es zurücksetzen?'],
    ['What is the best way to learn chess?', 'How do I learn chess?'],
    ['What does zeal mean?', 'What is zeal?'],
    ['Do cats really sleep all day?', 'Do cats sleep all day?'],
    ['Where do I buy stamps?', 'Where can I buy stamps?'],
    ['Can we live without salt?', 'Is it possible to live without salt?'],
    ['What are the duties of a notary?', 'What does a notary do?'],
    ['Kannst du mir sagen, wer das Bild gemalt hat?', 'Wer hat das Bild gemalt?'],
    ['How much salt is in bread?', 'How much salt does bread contain?'],
  ])('"%s" and "%s" are the same', (a, b) => {
    expect(sameQuestion(a, b)).toEqual({ same: true, differences: [] });
    expect(sameQuestion(b, a).same).toBe(true);
  });

  it('are compared in either order with the same outcome, and each is the same as itself', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc
        .array(fc.constantFrom('what', 'is', 'not', '5', 'km', 'Rome', 'to', 'from', '"x"', 'der', 'Hund', '?', 'May'), { maxLength: 12 })
        .map((words) => words.join(' ')),
    );
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(sameQuestion(a, a)).toEqual({ same: true, differences: [] });
        expect(sameQuestion(a, b).same).toBe(sameQuestion(b, a).same);
      }),
    );
  });

  it('with another number anywhere are never the same', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 9_999 }),
        fc.integer({ min: 2, max: 9_999 }),
        fc.constantFrom('What is # % of 50?', 'Nenne # Seen.', 'Who ruled in #?', 'Summarise chapter #'),
        (a, b, text) => {
          fc.pre(a !== b);
          expect(sameQuestion(text.replace('#', String(a)), text.replace('#', String(b))).same).toBe(false);
        },
      ),
    );
  });

  it('that are long or odd are compared quickly', () => {
    for (const part of ['a', 'a ', '1 ', '"', '`', '- ', "x'", 'ä.', '1.', 'A.b', '@a.', '⁵', '\n', 'zu', '['] as const) {
      const began = performance.now();
      sameQuestion(part.repeat(1_000_000 / part.length), `${part.repeat(1_000_000 / part.length)}x`);
      sameQuestion(part.repeat(1_900 / part.length), `${part.repeat(1_900 / part.length)}x`);
      expect(performance.now() - began).toBeLessThan(5_000);
    }
  });
});

describe('reading a question', () => {
  const values = (text: string) => readQuestion(text).tokens.map(({ value }) => value);

  it('keeps versions, addresses and identifiers whole', () => {
    expect(values('Is 10.0.0.1/8 in Node 20.19.1?')).toContain('10.0.0.1/8');
    expect(values('C++ or C#?')).toEqual(expect.arrayContaining(['c++', 'c#']));
    expect(values('Python 3.10')).toContain('3.10');
  });

  it('recognises words that are numbers, units and dates', () => {
    expect(values('twenty five kilometres')).toEqual(['25', 'unit:km']);
    expect(values('am 3. Mai 2024')).toContain('2024-5-3');
    expect(values('20 °C')).toContain('unit:°c');
    expect(values('fünfundzwanzig')).toEqual(['25']);
    expect(values('may I go')).toContain('may');
  });
});

describe('the key of a question', () => {
  it.each([
    ['What is LOVE?', 'what is love'],
    ['  what \n is   love ?! ', 'what is love'],
    ['Ｗｈａｔ is love…', 'what is love'],
  ])('is the same for "%s" and "%s"', (a, b) => expect(normaliseQuestion(a)).toBe(normaliseQuestion(b)));

  it.each([
    ['10²', '102'],
    ['1½ cups', '11⁄2 cups'],
    ['5!', '5'],
    ['-5 + 3', '5 + 3'],
    ['Say "Hello"', 'Say "hello"'],
    ['Run `ls  -l`', 'Run `ls -l`'],
    ['Match a(b)?', 'Match a(b)'],
    ['5 mW', '5 MW'],
    ['Decode aGVsbG8', 'Decode aGVSBG8'],
    ['SHA-256 of Word', 'SHA-256 of word'],
    ['if x:\n  a\n  b', 'if x:\n  a\nb'],
    ['Does it hurt?', "Doesn't it hurt?"],
    ['What is getUser?', 'What is getuser?'],
  ])('differs for "%s" and "%s"', (a, b) => expect(normaliseQuestion(a)).not.toBe(normaliseQuestion(b)));

  it('is its own key', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        expect(normaliseQuestion(text)).toBe(normaliseQuestion(`  ${text}  `));
      }),
    );
  });
});
