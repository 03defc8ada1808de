const list = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const english = list(
  'a about after all an and any are as at be been but by can could did do does for from had has have he her how i if in into is it its me more ' +
    'my no not of on or our out she should so some than that the their them then there these they this those to too was we were what when where ' +
    'which who why will with would you your',
);
const german = list(
  'aber alle als auch auf aus bei beim bin bis bist da damit dann das dass dein dem den der des die dies diese diesem diesen dieser dieses doch ' +
    'du durch ein eine einem einen einer eines er es etwas für gegen habe haben hat hier ich ihm ihn ihr ihre im ins ist kann können man mein meine ' +
    'mir mich mit muss nach nicht noch nur ob oder ohne sehr sein seine sich sie sind über um und uns unser unsere unter vom von vor wann warum was ' +
    'weil welche wenn wer werden wie wieder wir wird wo zu zum zur gibt',
);
/** Words that carry no subject in either language, besides those above; the frames of questions and requests among them. */
const others = list(
  'above again against also am because before being below between both cannot doing down during each few further having here hers herself him ' +
    'himself his itself just most myself nor off once only other ours over own same such theirs through under until up upon us very while whom ' +
    'yours ll re ve s t m don didn doesn isn aren wasn weren won wouldn shouldn couldn get gets got getting daß deren dessen dort euch euer ihnen ' +
    'in kannst könnte meinem meinen meiner müssen seinem seinen seiner seit so soll sollen sollte sollten war waren welchem welchen welcher ' +
    'welches worden wurde wurden wem wen dafür dabei daran welch an ' +
    'please tell give explain describe happen happens bitte gib gebt sag sage sagt erkläre erklär beschreibe nenne zeige heißt heißen darf dürfen ' +
    'macht machen tut tun möglich wodurch womit wofür worin',
);

const longestText = 100_000;
const longestWord = 64;

/** Words of a text in lower case, as they come. Reads the first 100,000 characters; longer words than 64 characters are cut. */
export function wordsOf(text: string): readonly string[] {
  const words =
    text
      .slice(0, longestText)
      .normalize('NFKC')
      .toLowerCase()
      .replace(/['’]s(?![\p{L}\p{N}])/gu, '')
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.map((word) => word.slice(0, longestWord));
}

export const isStopWord = (word: string): boolean => english.has(word) || german.has(word) || others.has(word);
export const isEnglishStopWord = (word: string): boolean => english.has(word);
export const isGermanStopWord = (word: string): boolean => german.has(word);

/** The word without its commonest endings, English or German: only good for being equal to another one. */
export function stemOf(word: string): string {
  if (word.length < 5) return word.replace(/s$/, '');
  return word.replace(/(ingly|edly|ings|ing|ied|ies|ed|es|ern|en|er|em|e|s|n|ly)$/, (ending) =>
    ending === 'ied' || ending === 'ies' ? 'y' : '',
  );
}
