import { sharesMeaning, tokensOf, type Name, type TextToken } from '../language/tokens.js';
import { genericPeople, isKindNoun, isStopWord, ofPlaces, questionWords } from '../language/words.js';
import type { ParsedPassage, Sentence } from '../reading/passages.js';
import { accountOf } from './account.js';
import { findLink, type Link, type Wanted } from './link.js';
import { askingSentence, asQuestion, innerPart, isWhole, readQuestion, withName, type InnerPart, type ParsedQuestion } from './question.js';

/** How far the facts lead towards an answer. */
export interface Chain {
  /** Sentences that lead from the question to the answer, in order. */
  readonly links: readonly Link[];
  /** Null while a part is open. */
  readonly answer: string | null;
  readonly complete: boolean;
  /** The next unanswered question; null when complete. */
  readonly open: string | null;
  /** Name the open question is about, found in the facts; null if the name comes from the question itself. */
  readonly bridge: string | null;
  /** The question as it was asked, without the sentences around it. */
  readonly asked: string;
  /** Sentences with most of the question's words, if no sentence answers it by a rule. */
  readonly nearest: readonly Sentence[];
  /** The links are what documents say first about their subjects, and lead to nothing. */
  readonly isAccount: boolean;
}

const mostLinks = 4;
const asksForTotal = /\b(?:together|altogether|combined|in (?:total|all|sum)|total|overall)\b/i;
const ofEach = /\b(?:each|every|apiece|per (?:person|head|unit|piece|item))\b/i;

/**
 * Answers a question from sentences only: replaces "the founder of X" by the name that a sentence states for it. Uses general rules of
 * English; no name, document or question is built in.
 */
export function follow(text: string, told: readonly ParsedPassage[]): Chain {
  // An earlier answer proves nothing: its evidence is searched again.
  const found = told.filter(({ title }) => title !== earlierAnswer);
  const keys = new Set(found.flatMap((passage) => [...passage.keys]));
  const asked = new Set<string>();
  const links: Link[] = [];
  const asking = askingSentence(text);
  let question = readQuestion(asking, keys);
  // A number for each of several things does not answer a question about all of them together, because nothing here multiplies.
  const isTotal = question.kind === 'number' && asksForTotal.test(asking);
  const passages = isTotal
    ? found.map((one) => ({ ...one, sentences: one.sentences.filter(({ text: said }) => !ofEach.test(said)) }))
    : found;
  const base = { asked: asking, nearest: [], isAccount: false };
  let bridge: Name | null = null;
  for (const name of question.names) asked.add(name.key);
  while (links.length < mostLinks) {
    const direct = findFinal(question, passages, asked, bridge);
    if (direct)
      return { ...base, links: [...links, direct], answer: direct.answer, complete: true, open: null, bridge: bridge?.text ?? null };
    const step = nextStep(question, passages, asked, bridge);
    const account = step || links.length > 0 ? [] : accountOf(asking, found);
    if (account.length > 0)
      return { ...base, links: account.map(saying), answer: null, complete: true, open: null, bridge: null, isAccount: true };
    if (!step)
      return {
        ...base,
        ...(links.length === 0 ? { nearest: nearestTo(asking, found) } : {}),
        links,
        answer: null,
        complete: false,
        open: openQuestion(question, bridge),
        bridge: bridge?.text ?? null,
      };
    links.push(step.link);
    bridge = step.link.name!;
    asked.add(bridge.key);
    question = readQuestion(withName(question, step.part, bridge.text), keys);
  }
  return { ...base, links, answer: null, complete: false, open: question.text, bridge: bridge?.text ?? null };
}

const saying = (sentence: Sentence): Link => ({ sentence, answer: null, name: null, covered: 1 });

/** Title of facts that come from an earlier answer. */
const earlierAnswer = 'Earlier answer';
/** Most sentences quoted as nearest, and the least share of the question's words in a sentence and its document's title. */
const mostNearest = 2;
const nearEnough = 0.5;

function nearestTo(asking: string, passages: readonly ParsedPassage[]): readonly Sentence[] {
  const wanted = tokensOf(asking).filter(({ lower }) => !isStopWord(lower) && !questionWords.has(lower) && !genericPeople.has(lower));
  const found = passages.flatMap(({ title, sentences }) => {
    const ofTitle = tokensOf(title);
    return sentences.flatMap((sentence) => {
      const own = wanted.filter((word) => sentence.tokens.some((token) => sharesMeaning(token, word))).length;
      const others = wanted.filter(
        (word) => !sentence.tokens.some((token) => sharesMeaning(token, word)) && ofTitle.some((token) => sharesMeaning(token, word)),
      );
      const share = wanted.length === 0 ? 0 : (own + others.length) / wanted.length;
      return own > 0 && share >= nearEnough ? [{ sentence, score: own + others.length / 2 }] : [];
    });
  });
  // One sentence of each document, so that two documents that contradict each other are both shown.
  const seen = new Set<string>();
  return found
    .sort((a, b) => b.score - a.score)
    .filter(({ sentence, score }) => {
      const isNew = score >= found[0]!.score - 0.5 && !seen.has(sentence.text) && !seen.has(`${sentence.passage.title}\n`);
      if (isNew) seen.add(sentence.text).add(`${sentence.passage.title}\n`);
      return isNew;
    })
    .slice(0, mostNearest)
    .map(({ sentence }) => sentence);
}

/** Names to try, innermost first: the last found name, then names from the end of the question. */
const anchors = (question: ParsedQuestion, bridge: Name | null): readonly Name[] => {
  const found = question.names.filter((name) => name.key === bridge?.key);
  return found.length > 0 ? found : question.names.toReversed();
};

/** Finds a sentence that answers the whole question. */
function findFinal(
  question: ParsedQuestion,
  passages: readonly ParsedPassage[],
  known: ReadonlySet<string>,
  bridge: Name | null,
): Link | null {
  const { tokens, content } = question;
  const required = meaningful(question, content);
  if (question.names.length === 0) {
    if (required.length < 2) return null;
    return accept(findLink(passages, { entity: null, required, kind: question.kind, noun: question.noun, known }), 0.75);
  }
  for (const name of anchors(question, bridge)) {
    const part = innerPart(question, name);
    if (part && !isWhole(question, part)) {
      // A single sentence counts only if it covers everything.
      const all = findLink(passages, { entity: name.key, required, kind: question.kind, noun: question.noun, known });
      if (all?.covered === 1 && all.answer) return all;
      continue;
    }
    const kind = question.kind === 'thing' && part ? part.kind : question.kind;
    const noun = question.noun ?? part?.noun ?? null;
    const others = question.names.filter((other) => other.key !== name.key);
    const wanted: Wanted = { entity: name.key, required: required.length > 0 ? required : nounOnly(question), kind, noun, known };
    const link = accept(findLink(passages, wanted), 1) ?? askedByNoun(question, passages, wanted);
    if (link && others.every((other) => link.sentence.passage.keys.has(other.key))) return link;
  }
  return null;

  function nounOnly({ noun }: ParsedQuestion): readonly TextToken[] {
    return noun && tokens.includes(noun) ? [noun] : [];
  }
}

const accept = (link: Link | null, least: number): Link | null => (link && link.covered >= least ? link : null);

/** "Which river flows through X": a sentence about "the river" and X also answers it, with any verb of location. */
function askedByNoun({ noun }: ParsedQuestion, passages: readonly ParsedPassage[], wanted: Wanted): Link | null {
  if (!noun || !isKindNoun(noun.lower) || !wanted.required.every(({ meanings }) => meanings.some((meaning) => ofPlaces.has(meaning))))
    return null;
  const link = findLink(passages, { ...wanted, required: [noun] });
  const name = link?.name;
  const beside = name && [name.from - 2, name.from - 1, name.to + 1, name.to].some((at) => isWord(link.sentence.tokens[at], noun));
  return beside ? link : null;
}
const isWord = (token: TextToken | undefined, word: TextToken): boolean => token !== undefined && sharesMeaning(token, word);

/** Resolves an inner part of the question. */
function nextStep(
  question: ParsedQuestion,
  passages: readonly ParsedPassage[],
  known: ReadonlySet<string>,
  bridge: Name | null,
): { readonly part: InnerPart; readonly link: Link } | null {
  for (const name of anchors(question, bridge)) {
    const part = innerPart(question, name);
    if (!part || isWhole(question, part)) continue;
    const link = findLink(passages, {
      entity: name.key,
      required: meaningful(question, part.relation),
      kind: part.kind,
      noun: part.noun,
      known,
    });
    if (link?.name) return { part, link };
  }
  return null;
}

/** Words that must be covered. Kinds of things count only if there are no other words, because documents often omit them. */
function meaningful({ tokens }: ParsedQuestion, places: readonly number[]): readonly TextToken[] {
  const words = places.map((at) => tokens[at]!);
  const telling = words.filter((token) => !isKindNoun(token.lower));
  return (telling.length > 0 ? telling : words).filter(
    (token, index, all) => all.findIndex((other) => sharesMeaning(other, token)) === index,
  );
}

/** The smallest open question: an unresolved inner part, else the question with its resolved parts. */
function openQuestion(question: ParsedQuestion, bridge: Name | null): string {
  for (const name of anchors(question, bridge)) {
    const part = innerPart(question, name);
    if (part && !isWhole(question, part)) return asQuestion(question, part);
  }
  return question.text;
}
