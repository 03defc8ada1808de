import type { QuotedDocument } from '@conclave/contracts';

/** A quoted document, or a passage of one. */
export interface Quoted extends Omit<QuotedDocument, 'text' | 'title' | 'listed'> {
  /** The number that the front end gives it. */
  readonly n: number | null;
  readonly title: string | undefined;
  readonly body: string;
}

/** Who wrote a text: a program all of it, a program what it added to the words of a user, or perhaps a user. */
export type Trust = 'program' | 'added' | 'user';

/** What a text quotes, and where the first of it begins and the last ends. */
export interface QuotedPart {
  readonly elements: readonly Quoted[];
  readonly from: number;
  readonly to: number;
}
