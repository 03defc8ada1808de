/** What was changed so that the old answer is wrong for the new question. */
export const changeKinds = [
  'number',
  'date',
  'name',
  'negation',
  'unit',
  'direction',
  'scope',
  'language',
  'opposite',
  'question',
] as const;
export type ChangeKind = (typeof changeKinds)[number];

export type TwoQuestions = readonly [asked: string, again: string];

/** What was changed, in the ways that comparisons of words and embeddings most easily miss. */
export const adversarialKinds = [
  'spoken number',
  'negation',
  'roles',
  'unit',
  'date',
  'name',
  'comparative',
  'before and after',
  'quantifier',
  'modal',
  'reworded',
  'framing',
] as const;
export type AdversarialKind = (typeof adversarialKinds)[number];
