import { halfOf, type Half } from '../../halves.js';
import { english } from './english.js';
import { german } from './german.js';
import { levels, type Language, type Level, type Written } from './written.js';

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
