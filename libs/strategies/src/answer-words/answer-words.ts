import type { TaskInput } from '@conclave/contracts';

/** Why a run had nothing to answer from. */
export type Unsourced = NonNullable<Extract<TaskInput, { kind: 'synthesis' }>['unsourced']>;

/** What Conclave itself writes into an answer, in one language. Headings end with their colon, sentences with their full stop. */
export interface AnswerWords {
  readonly sources: string;
  readonly unsupported: string;
  readonly noSuchSource: string;
  readonly notCovered: string;
  /** Heading of failed calls that were to change something: some may have done so nevertheless. */
  readonly undone: string;
  /** Heading of calls that were to change something and were not made. */
  readonly notMade: string;
  readonly nothingFound: string;
  readonly researchFailed: string;
  readonly found: string;
  readonly stillOpen: string;
  readonly whyStopped: string;
  readonly unconfirmed: string;
  readonly notReviewed: string;
  readonly verdictUnread: string;
  readonly unsourced: Readonly<Record<Unsourced, string>>;
  /** Follows a sentence of `unsourced`, with the space that the language puts between two. */
  readonly ownKnowledge: string;
}
