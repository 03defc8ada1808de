import { promptMarks as marks } from '@conclave/contracts';
import { follow } from '../answering/chain.js';
import { section } from '../prompt-reader.js';
import { readPassages } from '../reading/passages.js';

const { gapCheck } = marks;

/** The gap detector's reply in its exact format. */
export function assess(prompt: string): string {
  const question = section(prompt, gapCheck.question) ?? '';
  const chain = follow(question, readPassages(section(prompt, gapCheck.answer) ?? ''));
  if (chain.complete) return `${gapCheck.status} ${gapCheck.complete}\n${gapCheck.gap} none\n${gapCheck.nextFocus} none`;
  const open = chain.open ?? question;
  const gap = chain.bridge ? `what the facts do not say about ${chain.bridge}: ${open}` : `the answer to: ${open}`;
  return `${gapCheck.status} ${gapCheck.needsMore}\n${gapCheck.gap} ${oneLine(gap)}\n${gapCheck.nextFocus} ${oneLine(open)}`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
