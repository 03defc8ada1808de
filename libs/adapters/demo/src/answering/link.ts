import { sharesMeaning, type Name, type TextToken } from '../language/tokens.js';
import {
  auxiliaries,
  determiners,
  isPlaceKind,
  isStopWord,
  madeBy,
  months,
  mutual,
  ofItsSubject,
  possessivePronouns,
  stem,
} from '../language/words.js';
import { means, type ParsedPassage, type Sentence, type Subject } from '../reading/passages.js';
import type { AnswerKind } from './question.js';

/** What a sentence about an entity should say. */
export interface Wanted {
  /** Key of the entity; null asks for any sentence. */
  readonly entity: string | null;
  /** Words whose meanings the sentence has to cover. */
  readonly required: readonly TextToken[];
  readonly kind: AnswerKind;
  readonly noun: TextToken | null;
  /** Keys of names in the question, which cannot be the answer. */
  readonly known: ReadonlySet<string>;
}

export interface Link {
  readonly sentence: Sentence;
  /** The name or number of the wanted kind; null if the sentence answers in other words. */
  readonly answer: string | null;
  readonly name: Name | null;
  /** Share of the required meanings it covers. */
  readonly covered: number;
}

/** Marks sentences that deny something or report hearsay; they prove nothing. */
const unsure =
  /\b(not|never|nor|neither|no|nothing|nobody|unknown|disputed|rumou?rs?|rumou?red|alleged|allegedly|legend|supposedly|claimed|mistaken|mistakenly|wrongly|contrary|often said|sometimes said)\b/i;

/** Words with which a sentence gives a reason. */
const causal = /\b(because|due to|owing to|thanks to|so that|in order to|as a result|the reason)\b/i;

/** The best sentence: the one that covers most, then the earliest. Null if no sentence fits. */
export function findLink(passages: readonly ParsedPassage[], wanted: Wanted): Link | null {
  let best: { readonly link: Link; readonly score: number } | null = null;
  for (const sentence of passages.flatMap((passage) => passage.sentences)) {
    if (unsure.test(sentence.text)) continue;
    const found = readLink(sentence, wanted);
    if (found && (!best || found.score > best.score + 1e-9)) best = found;
  }
  return best?.link ?? null;
}

function readLink(sentence: Sentence, wanted: Wanted): { readonly link: Link; readonly score: number } | null {
  if (wanted.required.length === 0) return readDefinition(sentence, wanted);
  const at = relationPlaces(sentence, wanted).filter((one) => !isOfAnother(sentence, wanted, one));
  const covered = new Set(at.map(({ said }) => said)).size / wanted.required.length;
  if (covered < 0.5 || !speaksOf(sentence, wanted, at)) return null;
  if (wanted.kind === 'reason')
    return causal.test(sentence.text) ? { link: { sentence, answer: null, name: null, covered }, score: covered * 10 } : null;
  const places = at.map(({ place }) => place);
  const found = wanted.kind === 'time' || wanted.kind === 'number' ? numberIn(sentence, wanted, places) : nameIn(sentence, wanted, places);
  if (!found && wanted.kind !== 'thing') return null;
  const answer = found?.text ?? null;
  return {
    link: { sentence, answer, name: found?.name ?? null, covered },
    score: covered * 10 + (answer ? 2 : 0) + (found?.score ?? 0) / 10,
  };
}

/** "What is X?": a sentence that begins with X and says what it is, else what happened to it. */
function readDefinition(sentence: Sentence, { entity }: Wanted): { readonly link: Link; readonly score: number } | null {
  const [first] = sentence.names;
  if (!first || first.from > 1 || entity === null || !means(first, entity, sentence.passage)) return null;
  const next = sentence.tokens[first.to + 1]?.lower ?? '';
  if (!auxiliaries.has(next)) return null;
  const defines = determiners.has(sentence.tokens[first.to + 2]?.lower ?? '');
  return { link: { sentence, answer: null, name: null, covered: 1 }, score: defines ? 12 : 10 };
}

interface RelationPlace {
  readonly place: number;
  /** The required word it matches. */
  readonly said: TextToken;
}

/** Places of the required meanings in the sentence: words outside names, or phrases such as "a novel by". */
function relationPlaces({ tokens, names }: Sentence, { required }: Wanted): readonly RelationPlace[] {
  return tokens.flatMap((token, place) => {
    if (names.some((name) => name.from <= place && place <= name.to && (name.to > name.from || place > 0))) return [];
    const made = tokens.slice(place + 1, place + 3).some((next) => next.lower === 'by') ? madeBy.get(token.lower) : undefined;
    const here = { meanings: made === undefined ? token.meanings : [...token.meanings, made] };
    return required.filter((wanted) => sharesMeaning(wanted, here)).map((said) => ({ place, said }));
  });
}

/**
 * Whether the relation belongs to somebody else: "A's deputy is B" says nothing about the deputy of B. Relations that hold both ways are
 * exceptions, and so is an owner that the question itself names.
 */
function isOfAnother(sentence: Sentence, { entity, known }: Wanted, { place, said }: RelationPlace): boolean {
  const { tokens, names, subjects, passage } = sentence;
  const relation = stem(tokens[place]!.lower);
  if (entity === null || relation !== stem(said.lower) || mutual.has(relation)) return false;
  const isBefore = (at: number): boolean => at < place && at >= place - 2;
  const owner =
    names.find(({ to }) => isBefore(to) && tokens[to]!.possessive) ?? subjects.find((one) => one.possessive && isBefore(one.at))?.name;
  return owner !== undefined && !known.has(owner.key) && !means(owner, entity, passage);
}

/** Whether the sentence relates the required relation to the entity. */
function speaksOf(sentence: Sentence, { entity, required }: Wanted, at: readonly RelationPlace[]): boolean {
  if (entity === null) return true;
  const { names, passage } = sentence;
  const own = (name: Name): boolean => means(name, entity, passage);
  const subjects = sentence.subjects.filter(({ name }) => own(name));
  if (!names.some(own) && subjects.length === 0) return false;
  // "Her brother was taught": a possessive pronoun refers to the subject only if the relation itself follows.
  const possessed = ({ at: pronoun, possessive }: Subject, place: number): boolean =>
    !possessive || (place > pronoun && place <= pronoun + 2);
  const strict = required.some(({ meanings }) => meanings.some((meaning) => ofItsSubject.has(meaning)));
  if (!strict) return names.some(own) || at.some(({ place }) => subjects.some((subject) => possessed(subject, place)));
  return at.some(({ place }) => {
    // "C is the birthplace of A".
    if (sentence.tokens[place + 1]?.lower === 'of') return names.some((name) => own(name) && name.from > place && name.from <= place + 3);
    const nearest = names.filter((name) => name.to < place && !inAside(sentence, name, place)).at(-1);
    const subject = subjects.findLast((one) => one.at < place);
    if (subject && (!nearest || nearest.to < subject.at)) return possessed(subject, place);
    if (nearest) return own(nearest) && !ownsSomethingElse(sentence, nearest, place);
    // "The birthplace of A", "Born in C, A ...": the next name that is not a place.
    return names.filter((name) => name.from > place).some((name) => own(name));
  });
}

/** "A, a cousin of B, was born": B is in an aside between commas, outside the relation. */
function inAside({ text, tokens }: Sentence, name: Name, place: number): boolean {
  const before = text.slice(0, tokens[name.from]!.start);
  const between = text.slice(tokens[name.to]!.end, tokens[place]!.start);
  return /,[^,]*$/.test(before) && (between.match(/,/g) ?? []).length % 2 === 1;
}

/** In "A's brother was born", A is not the subject; in "A's birthplace" it is, because the relation follows directly. */
function ownsSomethingElse({ tokens }: Sentence, name: Name, place: number): boolean {
  return tokens[name.to]!.possessive && tokens.slice(name.to + 1, place).some((token) => !auxiliaries.has(token.lower));
}

const placeLeads: ReadonlySet<string> = new Set(['in', 'at', 'near', 'on', 'from', 'to', 'into', 'outside']);
const copulas: ReadonlySet<string> = new Set(['is', 'was', 'are', 'were', 'called', 'named']);

interface Candidate {
  /** Null if several numbers fit equally well. */
  readonly text: string | null;
  readonly name: Name | null;
  readonly score: number;
}

const distance = (from: number, to: number, places: readonly number[]): number =>
  places.length === 0 ? 0 : Math.min(...places.map((place) => (place < from ? from - place : place > to ? place - to : 0)));

/** The name in the sentence that best fits the kind, by its preposition, position and distance to the relation. */
function nameIn(sentence: Sentence, wanted: Wanted, places: readonly number[]): Candidate | null {
  const { tokens, names, passage } = sentence;
  const scored = names.flatMap((name, index): Candidate[] => {
    if (wanted.known.has(name.key) || (wanted.entity !== null && means(name, wanted.entity, passage))) return [];
    let before = name.from - 1;
    while (before >= 0 && (determiners.has(tokens[before]!.lower) || possessivePronouns.has(tokens[before]!.lower))) before -= 1;
    const lead = tokens[before]?.lower ?? '';
    const beside = [tokens[name.from - 1], tokens[name.to + 1], ...tokens.slice(name.from, name.to + 1)];
    // A person or thing beside the relation is not the place where it happened.
    const isPlace =
      placeLeads.has(lead) ||
      copulas.has(lead) ||
      copulas.has(tokens[name.to + 1]?.lower ?? '') ||
      [before, before - 1].some((at) => isPlaceKind(tokens[at]?.lower ?? ''));
    if (wanted.kind === 'place' && !isPlace && !beside.some((token) => token && wanted.noun && sharesMeaning(token, wanted.noun)))
      return [];
    let score = -0.3 * Math.min(10, distance(name.from, name.to, places));
    if (wanted.noun && beside.some((token) => token && sharesMeaning(token, wanted.noun!))) score += 4;
    if (copulas.has(lead)) score += 3;
    if (placeLeads.has(lead)) score += wanted.kind === 'place' ? 4 : wanted.kind === 'person' ? -4 : 0;
    if (lead === 'by') score += wanted.kind === 'person' ? 5 : -1;
    if (wanted.kind === 'person')
      score += (index === 0 && places.some((place) => place > name.to) ? 2 : 0) + (name.to > name.from ? 1 : 0) - (lead === 'of' ? 1 : 0);
    if (wanted.kind === 'place' && places.some((place) => place < name.from)) score += 1;
    if (wanted.noun?.lower === 'country' && sentence.text.slice(0, tokens[name.from]!.start).trimEnd().endsWith(',')) score += 2;
    return [{ text: name.text, name, score }];
  });
  return scored.reduce<Candidate | null>((best, one) => (best && best.score >= one.score ? best : one), null);
}

/** Least difference of score between the best number and the next one. */
const clearlyNearer = 0.6;

/** The date, year or number nearest to the relation; prefers those after it. */
function numberIn({ text, tokens }: Sentence, { kind, noun }: Wanted, places: readonly number[]): Candidate | null {
  const wantsYear = noun?.lower === 'year';
  const scored = tokens.flatMap((token, at): Candidate[] => {
    if (!/^\d[\d.,]*$/.test(token.text)) return [];
    const isYear = /^\d{3,4}$/.test(token.text) && (kind === 'time' || withUnit(text, tokens, at) === token.text);
    if (kind === 'time' && !isYear) return [];
    const behind = places.some((place) => place < at);
    const next = tokens[at + 1];
    const beside = !!noun && !!next && sharesMeaning(next, noun);
    const score =
      (behind ? 2 : 0) +
      (beside ? 3 : 0) -
      0.3 * Math.min(10, distance(at, at, places)) +
      (kind === 'number' && isYear && !beside ? -2 : 0);
    return [{ text: kind === 'time' && !wantsYear ? dateAround(text, tokens, at) : withUnit(text, tokens, at), name: null, score }];
  });
  const [first, second] = scored.toSorted((a, b) => b.score - a.score);
  // "A layer of tephra, 4 cm thick, was found at 91.3 m": the words do not say which number is meant.
  return first && second && kind === 'number' && first.score - second.score < clearlyNearer ? { ...first, text: null } : (first ?? null);
}

/** "34 degrees", "130 euros": a bare number says little. */
function withUnit(text: string, tokens: readonly TextToken[], at: number): string {
  const [number, next] = [tokens[at]!, tokens[at + 1]];
  const isUnit = next?.joined === true && /^\p{Ll}+$/u.test(next.text) && !isStopWord(next.lower) && !auxiliaries.has(next.lower);
  return isUnit ? text.slice(number.start, next.end) : number.text;
}

/** "3 May 1871", "May 3, 1871" or "May 1871" around a year. */
function dateAround(text: string, tokens: readonly TextToken[], year: number): string {
  const isMonth = (at: number): boolean => months.has(tokens[at]?.lower ?? '');
  const isDay = (at: number): boolean => /^\d{1,2}$/.test(tokens[at]?.text ?? '');
  let from = year;
  if (isMonth(year - 1)) from = isDay(year - 2) ? year - 2 : year - 1;
  else if (isDay(year - 1) && isMonth(year - 2)) from = year - 2;
  return text.slice(tokens[from]!.start, tokens[year]!.end);
}
