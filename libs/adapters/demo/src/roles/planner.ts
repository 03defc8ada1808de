import { promptMarks as marks } from '@conclave/contracts';
import { innerPart, askingSentence, readQuestion, type ParsedQuestion } from '../answering/question.js';
import { genericPeople } from '../language/words.js';
import { tokensOf } from '../language/tokens.js';
import { namedQuestions } from '../answering/several.js';
import { listOf, section } from '../prompt-reader.js';
import type { Calculation } from '../precision/calculation.js';
import { askedIn } from '../precision/calculations.js';

interface PlanItem {
  readonly id: string;
  readonly task: string;
  readonly capability: string;
  readonly search_query?: string;
  readonly mcp_tool?: string;
  readonly mcp_args?: Readonly<Record<string, unknown>>;
  readonly depends_on?: readonly string[];
}

/** Most searches of a plan: a moderate one has four tasks, and one of them answers. */
const mostSearches = 3;

/**
 * A plan as JSON: a task of a tool for each calculation; if more is asked, also a search for what each question needs first, on the web and
 * in uploaded documents if available; and one expert, unless all tasks are calculations that cannot be refused. `goal` is the
 * self-contained question.
 */
export function plan(prompt: string, goal: string): string {
  const capabilities = listOf(section(prompt, marks.capabilities)).map((line) => line.split(':')[0]!.trim());
  const experts = capabilities.filter((name) => name.startsWith('expert.'));
  const expert = experts.includes('expert.general') ? 'expert.general' : (experts[0] ?? 'expert.general');
  const asked = askedIn(goal);
  const calculated = asked === null ? [] : callsIn(prompt, capabilities, asked.calculations);
  const sums = calculated === null ? [] : calculated;
  // If a tool refuses, the expert says why; without an expert such a run would fail.
  const answering: PlanItem = { id: 'x1', task: `Answer from the evidence: ${oneLine(goal)}`, capability: expert };
  if (asked !== null && calculated !== null && asked.rest === null) {
    const tasks =
      sums.length > 0 && asked.calculations.every(cannotBeRefused) ? [] : [{ ...answering, depends_on: sums.map(({ id }) => id) }];
    return JSON.stringify({ tasks: [...sums, ...tasks] });
  }
  const about = asked?.rest ?? goal;
  const tasks: PlanItem[] = [...sums];
  const focus = section(prompt, marks.replan.nextFocus);
  const tried = triedIn(prompt);
  const searches: { readonly task: string; readonly search_query: string }[] = [];
  for (const wanted of focus ? [focus] : namedQuestions(about)) {
    const query = nextQuery(wanted, [...tried, ...searches.map(({ search_query }) => search_query)]);
    if (query !== null) searches.push({ task: `Find what answers: ${oneLine(wanted)}`, search_query: query });
  }
  const places = [
    { letter: 'r', capability: 'research' },
    { letter: 'c', capability: 'collections' },
  ].filter(({ capability }) => capabilities.includes(capability));
  const everywhere = places.flatMap(({ letter, capability }) =>
    searches.map(({ task, search_query }, at): PlanItem => ({ id: `${letter}${at + 1}`, task, capability, search_query })),
  );
  tasks.push(...everywhere.slice(0, mostSearches));
  tasks.push(answering);
  const leaning = oneLine(section(prompt, marks.question) ?? '') !== oneLine(goal);
  return JSON.stringify(leaning ? { tasks, search_question: oneLine(goal) } : { tasks });
}

/**
 * A task for each calculation, one after the other so that their results keep the order: by the tool, or for a sum by the symbolic
 * mathematics. Null if the run offers neither for one of them.
 */
function callsIn(prompt: string, capabilities: readonly string[], calculations: readonly Calculation[]): readonly PlanItem[] | null {
  const offered = section(prompt, marks.capabilities) ?? '';
  const tasks = calculations.map(({ tool, args, about }, index): PlanItem | null => {
    const named = new RegExp(`^\\s+([\\w./-]*\\b${tool})\\(`, 'm').exec(offered)?.[1];
    const call =
      named !== undefined
        ? { capability: 'mcp', mcp_tool: named }
        : tool === 'calculate' && capabilities.includes('math')
          ? { capability: 'math', mcp_tool: 'evaluate' }
          : null;
    return (
      call && { id: `t${index + 1}`, task: oneLine(about), ...call, mcp_args: args, ...(index > 0 ? { depends_on: [`t${index}`] } : {}) }
    );
  });
  return tasks.every((task) => task !== null) ? tasks : null;
}

/** Sums, differences and products of plain numbers. */
const cannotBeRefused = ({ tool, about }: Calculation): boolean => tool === 'calculate' && /^[\d\s.+*-]+$/.test(about);

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 300);

/** Searches of the run so far, without their outcomes. */
const triedIn = (prompt: string): readonly string[] =>
  [...listOf(section(prompt, marks.replan.tried)), ...listOf(section(prompt, 'These are forbidden now'))]
    .map((line) => line.replace(/\s*\([a-z]+\)$/, ''))
    .filter((line) => line !== 'none');

/** The first untried search, from the exact one to the name alone; null when none is left. */
export function nextQuery(text: string, tried: readonly string[]): string | null {
  const question = readQuestion(askingSentence(text));
  const candidates = [
    exactQuery(question),
    nameQuery(question),
    [...contentWords(question), ...question.names.map((name) => name.text)].join(' '),
  ];
  return candidates.find((query) => query !== '' && !tried.some((other) => similar(query, other))) ?? null;
}

/** Name and relation of the innermost part; without a name, all meaningful words. */
function exactQuery(question: ParsedQuestion): string {
  const name = question.names.at(-1);
  if (!name) return contentWords(question).join(' ');
  const part = innerPart(question, name);
  const words = part ? part.relation.map((at) => question.tokens[at]!.text) : question.content.map((at) => question.tokens[at]!.text);
  return [...words.filter((word) => !genericPeople.has(word.toLowerCase())), name.text].join(' ');
}

const nameQuery = (question: ParsedQuestion): string => question.names.at(-1)?.text ?? '';
const contentWords = (question: ParsedQuestion): readonly string[] => question.content.map((at) => question.tokens[at]!.text);

/** The engine drops near repeats: four fifths of the words in common. */
function similar(a: string, b: string): boolean {
  const left = new Set(tokensOf(a).map((token) => token.lower));
  const right = new Set(tokensOf(b).map((token) => token.lower));
  const common = [...left].filter((word) => right.has(word)).length;
  return common / new Set([...left, ...right]).size >= 0.8;
}
