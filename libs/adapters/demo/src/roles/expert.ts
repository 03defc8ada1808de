import { promptMarks as marks } from '@conclave/contracts';
import { follow } from '../answering/chain.js';
import { aboutItself, answerText, demoLabel, nothingFound, statements } from '../answering/wording.js';
import { languageNote, section } from '../prompt-reader.js';
import { answersOf, askedIn } from '../precision/calculations.js';
import { readPassages, toldBy } from '../reading/passages.js';

const { finding, confidence, gaps, refer } = marks.expertMarkers;

/** The relevant sentences of the evidence, with the marker lines. */
export function consult(prompt: string, asked: string): string {
  const question = asked || (section(prompt, marks.task) ?? '');
  const evidence = section(prompt, marks.evidence) ?? '';
  const passages = evidence === '' || evidence === 'none' ? [] : readPassages(evidence);
  // Without marker lines in the prompt, the reply goes to the user unchanged.
  if (!prompt.includes(finding)) {
    const chain = passages.length === 0 ? null : follow(question, passages);
    const note = chain?.complete ? '' : languageNote(prompt);
    return `${chain ? answerText(chain) : aboutItself(question)}${note}\n\n${demoLabel}`;
  }
  if (passages.length === 0)
    return markers('The demo model answers from documents only, and it was given none.', nothingFound, 0.1, question);
  const calculated = askedIn(question);
  const answers = calculated ? answersOf(calculated, passages.map(toldBy)).filter((answer) => answer !== null) : [];
  if (calculated?.rest === null && answers.length > 0)
    return markers(answers.join('\n'), answers.join('; ').replace(/ \[\d+\]/g, ''), 0.9, null);
  const chain = follow(calculated?.rest ?? question, passages);
  const core = statements(chain) || 'Nothing in the evidence answers the question.';
  return markers(answerText(chain), core.replace(/ \[\d+\]/g, ''), chain.complete ? 0.9 : chain.links.length > 0 ? 0.5 : 0.2, chain.open);
}

const markers = (text: string, core: string, sure: number, gap: string | null): string =>
  [text, '', `${finding} ${core}`, `${confidence} ${sure}`, `${gaps} ${gap?.replace(/\s+/g, ' ') ?? 'none'}`, `${refer} none`].join('\n');
