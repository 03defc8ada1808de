export const levels = ['trivial', 'moderate', 'complex'] as const;
/**
 * The definition the labels follow.
 *
 * trivial: short, clear, one question that one expert answers from common knowledge.
 * moderate: has several parts, or depends on a conversation or an attachment, or contains the notation of a domain, or a precision tool can
 *   answer it, or it touches medicine or law, or it must be looked up (over several hops, or because the answer changes with time).
 * complex: asks for analysis, or for several aspects at once, or has 80 words or more.
 */
export type Level = (typeof levels)[number];
export type Language = 'en' | 'de';

/** As written in the list: a bare text has no context; `history` and `attachments` are what came with it. */
export type Written = string | { readonly text: string; readonly history?: true; readonly attachments?: true };
