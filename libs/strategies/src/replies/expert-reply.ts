import { markedLine } from './marked-lines.js';
import { saysNone } from './none-words.js';

/** Confidence without a marker: unsure, below the threshold of the second tier. */
export const unmarkedConfidence = 0.6;
const wordConfidence: Readonly<Record<string, number>> = { high: 0.9, hoch: 0.9, medium: 0.6, mittel: 0.6, low: 0.3, niedrig: 0.3 };

export interface ExpertReply {
  /** Answer without the marker lines. */
  readonly text: string;
  readonly finding: string;
  /** 0 to 1 */
  readonly confidence: number;
  readonly gaps: readonly string[];
  readonly refer: readonly string[];
}

const markers = ['FINDING', 'CONFIDENCE', 'GAPS', 'GAP', 'REFER'] as const;

/** Reads an expert's answer with its markers; tolerates Markdown, any case, percent and decimal commas. */
export function readExpert(reply: string): ExpertReply {
  const found = new Map<string, string>();
  const kept: string[] = [];
  for (const line of reply.split(/\r?\n/)) {
    const marked = markedLine(line, markers);
    if (marked) found.set(marked.name === 'GAP' ? 'GAPS' : marked.name, marked.value);
    else kept.push(line);
  }
  const text = kept.join('\n').trim();
  const finding = found.get('FINDING') ?? '';
  return {
    text: text || finding,
    finding: finding || firstSentences(text),
    confidence: readConfidence(found.get('CONFIDENCE')),
    gaps: listOf(found.get('GAPS')),
    refer: listOf(found.get('REFER')).map((category) => category.toLowerCase().replaceAll(/[\s-]+/g, '_')),
  };
}

/** Whether the value echoes the requested format, such as `0-1` or `high | medium | low`, instead of filling it in. */
const unfilled = (value: string, words: readonly string[]): boolean =>
  new Set(words.filter((word) => Object.hasOwn(wordConfidence, word))).size > 1 || /\d\s*(?:-|–|to|bis|and|und)\s*\d/i.test(value);

/** 0 to 1 from `0.8`, `0,8`, `80 %`, `8/10`, `high`; `unmarkedConfidence` without a value or for an echo of the format. */
export function readConfidence(value: string | undefined): number {
  if (value === undefined) return unmarkedConfidence;
  const words = (value.match(/[a-zäöü]+/gi) ?? []).map((word) => word.toLowerCase());
  if (unfilled(value, words)) return unmarkedConfidence;
  const word = words[0];
  const number = /(\d+(?:[.,]\d+)?)\s*(%|\/\s*(\d+))?/.exec(value);
  if (!number) return (word !== undefined && wordConfidence[word]) || unmarkedConfidence;
  const raw = Number(number[1]!.replace(',', '.'));
  const share = number[2] === '%' ? raw / 100 : number[3] ? raw / Number(number[3]) : raw > 1 ? raw / 100 : raw;
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : unmarkedConfidence;
}

const listOf = (value: string | undefined): readonly string[] =>
  value === undefined || saysNone(value)
    ? []
    : value
        .split(/[;|]/)
        .map((part) => part.trim())
        .filter(Boolean);

const longestFinding = 400;

/** The first two sentences, at most 400 characters: the part of prose that the ledger keeps. */
export function firstSentences(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  const joined = flat
    .slice(0, longestFinding + 1)
    .split(/(?<=[.!?]) /u, 2)
    .join(' ');
  return joined.length <= longestFinding ? joined : `${joined.slice(0, longestFinding - 1)}…`;
}
