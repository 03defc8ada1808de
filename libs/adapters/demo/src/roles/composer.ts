import { promptMarks as marks } from '@conclave/contracts';
import type { Chain } from '../answering/chain.js';
import { followEach } from '../answering/several.js';
import { answersText, demoLabel, quoted } from '../answering/wording.js';
import { languageNote, section } from '../prompt-reader.js';
import { readPassages, toldBy, type ParsedPassage } from '../reading/passages.js';
import { answersOf, askedIn, type WantedCalculations } from '../precision/calculations.js';

/** The final answer from the numbered facts. `format`: for a client that wants JSON; the label becomes a field if the schema allows it. */
export function compose(prompt: string, question: string, format: Readonly<Record<string, unknown>> | null): string {
  const facts = section(prompt, marks.facts) ?? '';
  const passages = facts === '' || facts === 'none' ? [] : readPassages(facts);
  const asked = askedIn(question);
  const chains = followEach(asked?.rest ?? question, passages);
  const complete = chains.every((chain) => chain.complete);
  const found = passages.length === 0 ? noFacts(prompt) : answersText(chains);
  const sum = asked && calculatedText(asked, passages, section(prompt, marks.failedTasks) ?? '');
  const text = sum === null ? found : asked?.rest ? `${sum}\n\n${found}` : sum;
  const failed =
    section(prompt, marks.failedTasks) && !complete && sum === null ? ' Part of the search failed, so documents may be missing.' : '';
  const note = !complete && sum === null ? languageNote(prompt) : '';
  if (format) {
    const answer = (sum === null && chains.length === 1 ? chains[0]!.answer : null) ?? text.replace(/ \[\d+\]/g, '');
    const member = onlyText(format);
    return JSON.stringify(member === null ? { answer, note: demoLabel } : { [member]: answer });
  }
  const joined = chains.find(({ links }) => links.length > 1);
  return `${text}${failed}${note}\n\n${demoLabel}${insight(prompt, joined)}`;
}

type Members = Readonly<Record<string, { readonly type?: unknown } | undefined>>;

/** The name of the only field a schema needs, if it is text; null for any other schema. */
function onlyText(format: Readonly<Record<string, unknown>>): string | null {
  const { schema } = (format['json_schema'] ?? {}) as { schema?: { properties?: Members; required?: unknown } };
  const members = Object.entries(schema?.properties ?? {});
  const wanted = Array.isArray(schema?.required) ? members.filter(([name]) => (schema.required as unknown[]).includes(name)) : members;
  return wanted.length === 1 && wanted[0]![1]?.type === 'string' ? wanted[0]![0] : null;
}

/** Each calculation with its result and the number of its fact, or why there is none; null if nothing was calculated at all. */
function calculatedText(asked: WantedCalculations, passages: readonly ParsedPassage[], failed: string): string | null {
  if (asked.refusal !== null) return asked.refusal;
  const answers = answersOf(asked, passages.map(toldBy));
  const reasons = asked.calculations.map(({ about }) => failed.split('\n').find((line) => line.includes(about.slice(0, 150))));
  if (answers.every((answer) => answer === null) && reasons.every((reason) => reason === undefined)) return null;
  return answers.map((answer, at) => answer ?? `Not calculated: ${asked.calculations[at]!.about}.${whyNot(reasons[at])}`).join('\n');
}

/** The reason that a tool stated, without its name and code. */
const whyNot = (line: string | undefined): string => {
  const said = /says: (?:[A-Z_]+: )?(.*?)\)?$/s.exec(line ?? '')?.[1]?.trim();
  return said ? ` ${said}` : '';
};

const noFacts = (prompt: string): string =>
  section(prompt, marks.expertAnswers) === null || section(prompt, marks.failedTasks) !== null
    ? 'No document was found that bears on this question.'
    : 'No document was found that bears on this question. The demo model has no other knowledge: it answers from the documents that are searched here, and calculations with tools.';

/** A conclusion from several facts, for the knowledge graph. Only if the prompt asks for it. */
function insight(prompt: string, chain: Chain | undefined): string {
  if (!chain?.complete || chain.isAccount || chain.links.length < 2 || !prompt.includes(marks.insight.open)) return '';
  const summary = chain.links.map((link) => quoted(link)).join('; ');
  const entities = [
    ...new Set(
      chain.links.flatMap(({ sentence, name }) => [
        ...[...sentence.subjects.map((one) => one.name), ...sentence.names, ...(name ? [name] : [])].map((one) => one.text),
      ]),
    ),
  ];
  if (summary.length > 500) return '';
  return `\n${marks.insight.open}${JSON.stringify({ summary, entities: entities.slice(0, 20), insight_type: 'inference' })}${marks.insight.close}`;
}
