import type { ComparedText, ComparedToken } from './reading.js';

/** A word that both texts share: its positions in the first and in the second. */
export interface Match {
  readonly first: number;
  readonly second: number;
}

const sources = new Set(['from', 'von', 'vom', 'aus', 'ab']);
const targets = new Set(['to', 'into', 'onto', 'nach', 'zu', 'zum', 'zur', 'ins', 'in', 'auf', 'toward', 'towards']);
const certainTargets = new Set(['to', 'into', 'onto', 'nach', 'zum', 'zur', 'ins']);
const coordinators = new Set(['and', 'or', 'und', 'oder', 'vs', 'versus', 'sowie']);
const fillers = new Set('a an the der die das den dem des ein eine einen einem einer eines between zwischen both'.split(' '));
const passive = new Set(['by', 'durch', 'von']);

/** Whether a source in one text is the target in the other. */
const turnsAround = (a: ComparedToken, b: ComparedToken): boolean =>
  (sources.has(a.role) && certainTargets.has(b.role)) || (certainTargets.has(a.role) && sources.has(b.role));

/**
 * Whether the same words in another order say something else: "A beats B" and "B beats A", "from X to Y" and "from Y to X". A moved phrase
 * ("In 2020, who won …?"), a reordered list and a passive do not count.
 */
export function ordersDiffer(a: ComparedText, b: ComparedText, matches: readonly Match[], isReworded: boolean): boolean {
  if (matches.some(({ first, second }) => turnsAround(a.tokens[first]!, b.tokens[second]!))) return true;
  const hasPassive = (reading: ComparedText): boolean => reading.tokens.some(({ value }) => passive.has(value));
  const oneIsPassive = hasPassive(a) !== hasPassive(b);
  const inOrder = [...matches].sort((left, right) => left.first - right.first);
  for (const [position, left] of inOrder.entries()) {
    for (const right of inOrder.slice(position + 1)) {
      if (left.second < right.second) continue;
      const [leftKeeps, rightKeeps] = [keepsRole(left, a, b), keepsRole(right, a, b)];
      // "What may I do in Rome but not in Bari?": the preposition does not tell which is which.
      if (leftKeeps && rightKeeps && sharesRole(left, right, a) && !isList(a, left.first, right.first)) return true;
      if (leftKeeps || rightKeeps) continue;
      if (isList(a, left.first, right.first) && isList(b, right.second, left.second)) continue;
      if (!oneIsPassive && exchangeRoles(left, right, a, b)) return true;
      const weight = weightOf(left, a, b) + weightOf(right, a, b);
      if (weight === 2 && !oneIsPassive) return true;
      const between = inOrder.some(
        ({ first, second }) => first > left.first && first < right.first && second > right.second && second < left.second,
      );
      const areNeighbours = right.first - left.first === 1 && left.second - right.second === 1;
      const isBound = [left, right].some(
        ({ first, second }) => prepositions.has(a.tokens[first]!.role) || prepositions.has(b.tokens[second]!.role),
      );
      // In German, grammar decides whether a verb precedes or follows its nouns.
      const isGerman = a.language === 'de' || b.language === 'de';
      if (!isReworded && !isGerman && !oneIsPassive && !isBound && (between || areNeighbours)) return true;
    }
  }
  return false;
}

/** Both have the same preposition before the word, so it may move. */
const keepsRole = ({ first, second }: Match, a: ComparedText, b: ComparedText): boolean => {
  const role = a.tokens[first]!.role;
  return prepositions.has(role) && role === b.tokens[second]!.role;
};
const sharesRole = (left: Match, right: Match, { tokens }: ComparedText): boolean => tokens[left.first]!.role === tokens[right.first]!.role;
/** Each word has the other's preposition: "written in c" and "written in python". */
const exchangeRoles = (left: Match, right: Match, a: ComparedText, b: ComparedText): boolean => {
  const [leftRole, rightRole] = [a.tokens[left.first]!.role, a.tokens[right.first]!.role];
  return (
    leftRole !== rightRole &&
    (prepositions.has(leftRole) || prepositions.has(rightRole)) &&
    leftRole === b.tokens[right.second]!.role &&
    rightRole === b.tokens[left.second]!.role
  );
};
const prepositions = new Set([
  ...sources,
  ...targets,
  ...'at on for as with during since until before after about under over between within against against gegen für mit bei im am um seit bis vor während über unter zwischen innerhalb of'.split(
    ' ',
  ),
]);

const isList = ({ tokens }: ComparedText, from: number, to: number): boolean => {
  const between = tokens.slice(from + 1, to);
  return (
    between.some(({ value }) => coordinators.has(value)) &&
    between.every(({ value, kind }) => coordinators.has(value) || fillers.has(value) || kind === 'operator')
  );
};

/** 1 for names and other words whose position shows who does what to whom. */
const weightOf = ({ first, second }: Match, a: ComparedText, b: ComparedText): 0 | 1 => {
  const [left, right] = [a.tokens[first]!, b.tokens[second]!];
  return left.kind === 'identifier' ||
    (a.language === 'de' || b.language === 'de' ? left.isCapital && right.isCapital : left.isCapital || right.isCapital)
    ? 1
    : 0;
};
