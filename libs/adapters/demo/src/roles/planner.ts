import { promptMarks as marks } from '@conclave/contracts';
import { innerPart, askingSentence, readQuestion, type ParsedQuestion } from '../answering/question.js';
import { genericPeople } from '../language/words.js';
import { tokensOf } from '../language/tokens.js';
import { listOf, section } from '../prompt-reader.js';
import { sumIn } from '../reading/sums.js';

interface PlannedTask {
  readonly id: string;
  readonly task: string;
  readonly capability: string;
  readonly search_query?: string;
}

/**
 * A plan as JSON: a calculator task for a sum; else one search for what has to be known first, on the web and in uploaded documents where
 * available, and one expert. `goal` is the self-contained question.
 */
export function plan(prompt: string, goal: string): string {
  const capabilities = listOf(section(prompt, marks.capabilities)).map((line) => line.split(':')[0]!.trim());
  const experts = capabilities.filter((name) => name.startsWith('expert.'));
  const expert = experts.includes('expert.general') ? 'expert.general' : (experts[0] ?? 'expert.general');
  const expression = sumIn(goal);
  const calculator = expression === null ? null : calculatorIn(prompt, capabilities);
  if (expression !== null && calculator !== null)
    return JSON.stringify({ tasks: [{ id: 't1', task: oneLine(goal), ...calculator, mcp_args: { expression } }] });
  const tasks: PlannedTask[] = [];
  const focus = section(prompt, marks.replan.nextFocus);
  const tried = triedIn(prompt);
  const query = nextQuery(focus || goal, tried);
  const wanted = `Find what answers: ${oneLine(focus || goal)}`;
  for (const [id, capability] of [
    ['r1', 'research'],
    ['c1', 'collections'],
  ] as const)
    if (query !== null && capabilities.includes(capability)) tasks.push({ id, task: wanted, capability, search_query: query });
  tasks.push({ id: 'x1', task: `Answer from the evidence: ${oneLine(goal)}`, capability: expert });
  const leaning = oneLine(section(prompt, marks.question) ?? '') !== oneLine(goal);
  return JSON.stringify(leaning ? { tasks, search_question: oneLine(goal) } : { tasks });
}

/** The calculator among the tools, else the symbolic mathematics capability; null if the run has neither. */
function calculatorIn(prompt: string, capabilities: readonly string[]): { readonly capability: string; readonly mcp_tool: string } | null {
  const tool = /^\s+([\w./-]*\bcalculate)\(/m.exec(section(prompt, marks.capabilities) ?? '')?.[1];
  if (tool !== undefined) return { capability: 'mcp', mcp_tool: tool };
  return capabilities.includes('math') ? { capability: 'math', mcp_tool: 'evaluate' } : null;
}

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
