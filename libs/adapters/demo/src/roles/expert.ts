import { promptMarks as marks } from '@conclave/contracts';
import { followEach } from '../answering/several.js';
import { aboutItself, answersText, demoLabel, nothingFound, statements } from '../answering/wording.js';
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
    const chains = passages.length === 0 ? null : followEach(question, passages);
    const note = chains?.every(({ complete }) => complete) ? '' : languageNote(prompt);
    return `${chains ? answersText(chains) : aboutItself(question)}${note}\n\n${demoLabel}`;
  }
  if (passages.length === 0)
    return markers('The demo model answers from documents only, and it was given none.', nothingFound, 0.1, question);
  const calculated = askedIn(question);
  const answers = calculated ? answersOf(calculated, passages.map(toldBy)).filter((answer) => answer !== null) : [];
  if (calculated?.rest === null && answers.length > 0)
    return markers(answers.join('\n'), answers.join('; ').replace(/ \[\d+\]/g, ''), 0.9, null);
  const chains = followEach(calculated?.rest ?? question, passages);
  const core = statements(chains.flatMap(({ links }) => links)) || 'Nothing in the evidence answers the question.';
  const open = chains.find(({ complete }) => !complete);
  const sure = !open ? 0.9 : chains.some(({ links }) => links.length > 0) ? 0.5 : 0.2;
  return markers(answersText(chains), core.replace(/ \[\d+\]/g, ''), sure, open?.open ?? null);
}

const markers = (text: string, core: string, sure: number, gap: string | null): string =>
  [text, '', `${finding} ${core}`, `${confidence} ${sure}`, `${gaps} ${gap?.replace(/\s+/g, ' ') ?? 'none'}`, `${refer} none`].join('\n');
