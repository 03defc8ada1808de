import type { AnswerWords } from './answer-words.js';
import { ar } from './languages/ar.js';
import { de } from './languages/de.js';
import { en } from './languages/en.js';
import { es } from './languages/es.js';
import { fr } from './languages/fr.js';
import { hi } from './languages/hi.js';
import { it } from './languages/it.js';
import { ja } from './languages/ja.js';
import { ko } from './languages/ko.js';
import { nl } from './languages/nl.js';
import { pl } from './languages/pl.js';
import { pt } from './languages/pt.js';
import { ru } from './languages/ru.js';
import { tr } from './languages/tr.js';
import { uk } from './languages/uk.js';
import { vi } from './languages/vi.js';
import { zh } from './languages/zh.js';

/** By code of ISO 639-1. */
export const languages: Readonly<Record<string, AnswerWords>> = { ar, de, en, es, fr, hi, it, ja, ko, nl, pl, pt, ru, tr, uk, vi, zh };

/** The words for an answer in `language`, a code as `PlanRequested` has it; English without one, and for a language that is not listed. */
export const answerWords = (language: string | undefined): AnswerWords =>
  language !== undefined && Object.hasOwn(languages, language) ? languages[language]! : en;
