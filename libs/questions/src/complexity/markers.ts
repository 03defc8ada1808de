import words from '../assets/markers.json' with { type: 'json' };
import { phrases } from './phrases.js';
import { dangerSigns, legalSigns, medicalSigns } from './safety-signs.js';

/**
 * Evidence of a field in a text. `raises`: the field's notation, or a topic on which a wrong answer does harm, which makes a question at
 * least moderate. The others only determine the expert of a question that may be trivial.
 */
export interface Marker {
  readonly name: string;
  readonly category: string;
  readonly raises: boolean;
  readonly pattern: RegExp;
}

const raising = (name: string, category: string, ...patterns: readonly RegExp[]): readonly Marker[] =>
  patterns.map((pattern) => ({ name, category, raises: true, pattern }));
const naming = (category: string, ...patterns: readonly RegExp[]): readonly Marker[] =>
  patterns.map((pattern) => ({ name: category, category, raises: false, pattern }));

/** In order of precedence: the first match names the category. */
export const markers: readonly Marker[] = [
  ...raising(
    'law',
    'legal_advisor',
    /§/u,
    phrases(
      'bgb',
      'stgb',
      'hgb',
      'stpo',
      'zpo',
      'gmbhg',
      'dsgvo',
      'gdpr',
      'bgh',
      'bverfg',
      'eugh',
      'agb',
      'hipaa',
      'art(?:icle|ikel|\\.)? \\d+ (?:gg|eu|tfeu|aeuv|echr|emrk|dsgvo|gdpr)',
    ),
    phrases(...words.lawEnglish),
    phrases(...words.lawGerman),
  ),
  ...raising(
    'medicine',
    'medical_consult',
    /(?<![\p{L}\p{N}])[A-TV-Z]\d{2}\.\d{1,2}(?![\p{L}\p{N}.])/u,
    phrases('icd(?:-?1[01])?', '\\d+(?:[.,]\\d+)? ?(?:mg|µg|mcg|ml)(?:/kg)?', 'mmhg'),
    phrases(...words.medicineEnglish),
    phrases(...words.medicineGerman),
  ),
  ...raising('medicine', 'medical_consult', ...medicalSigns),
  ...raising('law', 'legal_advisor', ...legalSigns),
  ...raising('danger', 'general', ...dangerSigns),
  ...raising(
    'code',
    'code_reviewer',
    /`[^`\n]+`|^\s*```/mu,
    /(?<![\p{L}\p{N}])(?:def|class|func|fn|function)\s+\w+\s*[({:<]|=>\s*[{(\w]|^#!|^\s*(?:import|from)\s+[\w.{]+|#include\s*</mu,
    /(?<![\p{L}\p{N}_.])[\p{L}\p{N}_]{1,80}(?:\.[\p{L}\p{N}_]{1,80}){1,20}\(|[\p{L}\p{N}_]{2}\(\)|\w(?:Exception|Error)(?![\p{L}\p{N}_])|Traceback|(?:[;{]|\}\s*;?)\s*$|^\s*[[{]\s*"/mu,
    /(?<![\p{L}\p{N}])(?:SELECT\s[\s\S]{1,200}?\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)(?![\p{L}\p{N}])/u,
    /(?<![\p{L}\p{N}])[\p{L}\p{N}_-]+\.(?:py|ts|tsx|js|mjs|java|cpp|cs|go|rs|rb|php|sh|ya?ml|json|sql|toml)(?![\p{L}\p{N}])/u,
    phrases(
      'segfault',
      'stack ?trace',
      'null pointer',
      'pull request',
      'code review',
      'unit tests?',
      'merge conflicts?',
      'compil(?:er|ation) error',
      'refactor*',
      'debugg*',
    ),
  ),
  ...raising('technology', 'technical_support', /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?(?![\d.])/u, phrases(...words.technology)),
  ...raising(
    'mathematics',
    'math',
    /[∫∑√∞≤≥≠∂∈]|\\(?:frac|int|sum|sqrt)\b|(?<![\p{L}\p{N}])[a-z]\s*\^\s*\d|(?<![\p{L}\p{N}])\d*[xyz]\s*[-+*/=]\s*\d/u,
  ),
  ...naming(
    'translation',
    phrases(
      'translat*',
      'übersetz*',
      'how (?:do|would) (?:you|i|we) say',
      'wie sagt man',
      'ins (?:englische|deutsche|französische|spanische|italienische)',
    ),
  ),
  ...naming(
    'creative_writer',
    phrases(
      'poem',
      'haiku',
      'limerick',
      'short story',
      'fairy ?tale',
      'lyrics',
      'joke',
      'story about',
      'gedicht',
      'kurzgeschichte',
      'märchen',
      'witz',
      'liedtext',
      'geschichte über',
      'slogan',
    ),
  ),
  ...naming(
    'agentic_coder',
    phrases(
      'python',
      'java',
      'javascript',
      'typescript',
      'rust',
      'golang',
      'c\\+\\+',
      'c#',
      'ruby',
      'php',
      'kotlin',
      'swift',
      'html',
      'css',
      'bash',
      'git',
      'script',
      'skript',
    ),
  ),
  ...naming('science', phrases(...words.science)),
  ...naming('reasoning', phrases('riddle', 'puzzle', 'brain ?teaser', 'rätsel', 'denksport*')),
  ...naming('math', phrases('maths?', 'mathemati*', 'geometr*', 'algebra')),
];
