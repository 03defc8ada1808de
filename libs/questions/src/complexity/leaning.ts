import words from '../assets/leaning.json' with { type: 'json' };
import { phrases } from './phrases.js';

const backward = phrases(...words.backward);

/** A follow-up that is not understood alone: it points back, or is too short to stand by itself. Courtesy alone asks nothing. */
export const leansOnHistory = (request: string, words: number): boolean =>
  /[\p{L}\p{N}]/u.test(request) && (words <= 3 || (words <= 25 && backward.test(request)));
