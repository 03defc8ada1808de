/** Maximum number of terms of a question. */
export const mostTerms = 10;

/** Words that begin questions and sentences or are never names, in English and German. They also end a run of capitalised words. */
export const fillers: ReadonlySet<string> = new Set(
  `a an the and or but nor if then than so as at by for from in into of off on onto out over per to up via with within without about above after against
   all also am any are be been before being between both can could did do does done each either else ever every few had has have having he her here hers
   him his how i is it its just let like list make many may me mean means might more most much must my name no not now one only other our ours own please
   same shall she should show since some such tell that their theirs them there these they this those through too two under until us use used using very
   was we were what when where whether which while who whom whose why will would yes yet you your yours give explain compare describe difference between
   example best better first second new old
   aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist bitte da dabei damit dann das dass dein deine dem den
   denn der deren des deshalb die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er erkläre es etwa etwas euch
   für gab gegen gib gibt haben hat hatte hatten hier ich ihm ihn ihr ihre ihrem ihren ihrer ihm im in ist ja jede jedem jeden jeder jedes kann kannst kein
   keine können könnte machen man mehr mein meine mich mir mit muss müssen nach nach nenne nicht noch nun nur ob oder ohne sehr seid sein seine seit sich sie
   sind so soll sollen sollte sowie um und uns unser unter viel viele vom von vor wann war waren warum was welche welchem welchen welcher welches wem wen wer
   werden weshalb wie wieso wieviel will wir wird wo wofür woher wohin worin wurde wurden während zeige zu zum zur zwei zwischen über unterschied vergleiche
   beschreibe beispiel`.split(/\s+/),
);

/** Minimum length of a lower-case word that may name something. */
const longWord = 5;
/** Names are short: a longer quotation is a text. */
const longestTerm = 80;
/** Limits the reading cost: a longer question has its names at the beginning as well. */
const readCharacters = 20_000;

const quotations = /"([^"\n]{2,80})"|„([^“”"\n]{2,80})[“”"]|“([^”\n]{2,80})”|«([^»\n]{2,80})»|»([^«\n]{2,80})«|`([^`\n]{2,80})`/gu;
const word = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’._+#/-]*/gu;

/**
 * Terms of a question for looking up graph entities: quotations, then runs of capitalised words (and each capitalised word of a longer
 * run), names with digits, then long words; at most ten, in this order, each once. German and English.
 */
export function questionTerms(question: string): readonly string[] {
  const text = question.slice(0, readCharacters);
  const quoted = [...text.matchAll(quotations)].map((match) => match.slice(1).find((part) => part !== undefined)!);
  const runs: string[] = [];
  const parts: string[] = [];
  const long: string[] = [];
  let run: string[] = [];
  let end = -1;
  const close = (): void => {
    if (run.length > 0) runs.push(run.join(' '));
    if (run.length > 1) parts.push(...run);
    run = [];
  };
  for (const match of text.matchAll(word)) {
    const said = match[0].replace(/['’._/-]+$/u, '').replace(/['’]s$/u, '');
    const together = end >= 0 && /^[ \u00a0]$/u.test(text.slice(end, match.index)) && !/[.,;:!?]/u.test(text[end - 1]!);
    end = match.index + match[0].length;
    if (!together) close();
    if (!isName(said)) {
      close();
      if (said.length >= longWord && !fillers.has(said.toLowerCase()) && /\p{L}/u.test(said)) long.push(said);
      continue;
    }
    run.push(said);
  }
  close();
  return distinct([...quoted, ...runs, ...parts, ...long]).slice(0, mostTerms);
}

/**
 * Capitalised and not a filler; an abbreviation such as WHO is a name although it looks like a filler. Also any mix of letters and digits.
 */
function isName(said: string): boolean {
  if (/\p{L}/u.test(said) && /\p{N}/u.test(said)) return true;
  if (!/^\p{Lu}/u.test(said) || said.length < 2) return false;
  return /^\p{Lu}{2,}$/u.test(said) || !fillers.has(said.toLowerCase());
}

function distinct(terms: readonly string[]): readonly string[] {
  const seen = new Map<string, string>();
  for (const term of terms) {
    const trimmed = term.trim();
    const key = trimmed.toLowerCase();
    if (trimmed !== '' && trimmed.length <= longestTerm && !seen.has(key)) seen.set(key, trimmed);
  }
  return [...seen.values()];
}
