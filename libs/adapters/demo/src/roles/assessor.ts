import { promptMarks as marks } from '@conclave/contracts';
import { follow } from '../answering/chain.js';
import { nothingFound } from '../answering/wording.js';
import { section } from '../prompt-reader.js';
import { readPassages, type ParsedPassage } from '../reading/passages.js';
import { resultIn, sumIn } from '../reading/sums.js';

const { gapCheck } = marks;

/** The gap detector's reply in its exact format. */
export function assess(prompt: string): string {
  const question = section(prompt, gapCheck.question) ?? '';
  const passages = readPassages(section(prompt, gapCheck.answer) ?? '');
  const chain = follow(question, passages);
  // Complete too: a question that no document covers, since other words will not help, and a sum with a result.
  const isOver = chain.complete || isCalculated(question, passages) || isNowhere(passages);
  if (isOver) return `${gapCheck.status} ${gapCheck.complete}\n${gapCheck.gap} none\n${gapCheck.nextFocus} none`;
  const open = chain.open ?? question;
  const gap = chain.bridge ? `what the facts do not say about ${chain.bridge}: ${open}` : `the answer to: ${open}`;
  return `${gapCheck.status} ${gapCheck.needsMore}\n${gapCheck.gap} ${oneLine(gap)}\n${gapCheck.nextFocus} ${oneLine(open)}`;
}

const isCalculated = (question: string, passages: readonly ParsedPassage[]): boolean =>
  sumIn(question) !== null && passages.some(({ raw }) => resultIn(raw) !== null);
const isNowhere = (passages: readonly ParsedPassage[]): boolean =>
  passages.length > 0 && passages.every(({ raw }) => raw.includes(nothingFound));

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
