import { halfOf, type Half } from '../../halves.js';
import { english } from './english.js';
import { german } from './german.js';

export const levels = ['trivial', 'moderate', 'complex'] as const;
/**
 * The definition the labels follow.
 *
 * trivial: short, clear, one question that one expert answers from common knowledge.
 * moderate: several parts, or leans on a conversation or an attachment, or carries the notation of a domain, or a precision tool can
 *   answer it, or it touches medicine or law, or it has to be looked up (over several hops, or because the answer changes with time).
 * complex: asks for analysis, or for several aspects at once, or has 80 words or more.
 */
export type Level = (typeof levels)[number];
export type Language = 'en' | 'de';

/** As written down: a bare text stands alone; `history` and `attachments` say what it came with. */
export type Written = string | { readonly text: string; readonly history?: true; readonly attachments?: true };

export interface LabelledPrompt {
  readonly text: string;
  readonly language: Language;
  readonly level: Level;
  readonly half: Half;
  readonly hasHistory: boolean;
  readonly hasAttachments: boolean;
}

const labelled = (language: Language, written: Readonly<Record<Level, readonly Written[]>>): readonly LabelledPrompt[] =>
  levels.flatMap((level) =>
    written[level].map((entry, position) => {
      const { text, history = false, attachments = false } = typeof entry === 'string' ? { text: entry } : entry;
      return { text, language, level, half: halfOf(position), hasHistory: history, hasAttachments: attachments };
    }),
  );

export const labelledPrompts: readonly LabelledPrompt[] = [...labelled('en', english), ...labelled('de', german)];
