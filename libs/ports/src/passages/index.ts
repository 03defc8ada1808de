/**
 * Apart from the main entry: a bundle loads everything that its entry names, and most programs cut no text.
 */
export { firstHeadingOf, type TextPassage, passageLength, type PassageOptions, passagesOf } from './passages.js';
export { endingOf, isCode, textTypes } from './text-kinds.js';
