import { promptMarks as marks } from '@conclave/contracts';
import { followEach } from '../answering/several.js';
import { nothingFound } from '../answering/wording.js';
import { section } from '../prompt-reader.js';
import { readPassages, toldBy, type ParsedPassage } from '../reading/passages.js';
import { answersOf, askedIn, type WantedCalculations } from '../precision/calculations.js';

const { gapCheck } = marks;

/** The gap detector's reply in its exact format. */
export function assess(prompt: string): string {
  const question = section(prompt, gapCheck.question) ?? '';
  const passages = readPassages(section(prompt, gapCheck.answer) ?? '');
  const asked = askedIn(question);
  const about = asked?.rest ?? question;
  const chain = followEach(about, passages).find(({ complete }) => !complete);
  // Other searches do not help if no document covers the question, and a calculation needs none.
  const isOver = asked?.rest === null ? isCalculated(asked, passages) : !chain || isNowhere(passages);
  if (isOver) return `${gapCheck.status} ${gapCheck.complete}\n${gapCheck.gap} none\n${gapCheck.nextFocus} none`;
  const open = chain?.open ?? about;
  const gap = chain?.bridge ? `what the facts do not say about ${chain.bridge}: ${open}` : `the answer to: ${open}`;
  return `${gapCheck.status} ${gapCheck.needsMore}\n${gapCheck.gap} ${oneLine(gap)}\n${gapCheck.nextFocus} ${oneLine(open)}`;
}

/** Whether no call is left to make: each has a result, or nothing was found, because a tool that refused a call would refuse it again. */
const isCalculated = (asked: WantedCalculations, passages: readonly ParsedPassage[]): boolean =>
  isNowhere(passages) || answersOf(asked, passages.map(toldBy)).every((answer) => answer !== null);
const isNowhere = (passages: readonly ParsedPassage[]): boolean =>
  passages.length > 0 && passages.some(({ raw }) => raw.includes(nothingFound)) && passages.every(({ raw }) => raw.includes(nothingFound));

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
