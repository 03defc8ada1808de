import { promptMarks as marks } from '@conclave/contracts';
import { expertPrompts } from './expert-categories.js';
import { ragPrompts } from './rag-prompts.js';
import type { ShippedPrompt } from './shipped-prompt.js';

export type { ShippedPrompt };

const planner: ShippedPrompt = {
  name: 'planner',
  version: 3,
  placeholders: ['format', 'examples', 'max_experts', 'max_evidence'],
  needed: [],
  text: `Split the question into the fewest tasks that answer it. Reply with JSON only:
{format}
Rules:
- A simple question is exactly one task.
- At most {max_experts} expert tasks and {max_evidence} evidence tasks.
- Deterministic tools come before models: calculations, dates, units, hashes, subnets and the like are tasks of \`mcp\` or \`math\` where these are listed, never of an expert.
- Experts get the results of all evidence tasks of this plan; write "needs": [] for a task that must not wait for them.
- When a later search depends on the result of an earlier one, plan only the first search: you are asked again.
- Copy numeric constraints (dates, amounts, limits) into every task they concern.
- The first task may carry "metadata_filters", such as {"expert_domain": "legal_advisor"}, where only knowledge of that kind helps.
- Use only the capabilities listed. Ids are short and unique.
Examples:
{examples}`,
};

const expert: ShippedPrompt = {
  name: 'expert',
  version: 1,
  placeholders: [],
  needed: [],
  text: `Answer in the language of the question. Say plainly what you do not know.`,
};

const composer: ShippedPrompt = {
  name: 'composer',
  version: 3,
  placeholders: ['citing'],
  needed: [],
  text: `Write the answer to the question from the facts and expert answers below.
- Trust in this order: tools, knowledge graph, confident experts, web and documents, unsure experts, earlier answers.
- {citing}
- Say plainly what stays open and which tasks failed, where it matters for the answer. Do not mention tasks, experts or this process otherwise.
- Answer in the language of the question.
If, and only if, the answer is a new comparison, synthesis or inference from several sources, end with this block:
${marks.insight.open}{"summary": "one sentence", "entities": ["names"], "insight_type": "comparison|synthesis|inference"}${marks.insight.close}`,
};

const composerJson: ShippedPrompt = {
  name: 'composer.json',
  version: 2,
  placeholders: [],
  needed: [],
  text: `Write the answer to the question from the facts and expert answers below, as JSON only, in the format the client asks for.
- Trust in this order: tools, knowledge graph, confident experts, web and documents, unsure experts, earlier answers.
- No text before or after the JSON, no code fence, no numbers in square brackets that cite facts, no list of sources.
- What stays open is null, empty or left out, as the format allows. Never invent a value.`,
};

/** The detector's question, in the exact words of its source (agentic-replanning-loop, How It Works). */
const gap: ShippedPrompt = {
  name: 'gap',
  version: 1,
  placeholders: ['input', 'final_response'],
  needed: ['input', 'final_response'],
  text: `Based on the original question and the current answer, assess completion:
${marks.gapCheck.question} {input}
${marks.gapCheck.answer} {final_response}
Reply ONLY in this exact format:
COMPLETION_STATUS: COMPLETE | NEEDS_MORE_INFO
GAP: <what specific fact/calculation/document is still missing, or "none">
NEXT_FOCUS: <one concrete question/action for the next iteration>`,
};

const thinking: ShippedPrompt = {
  name: 'thinking',
  version: 1,
  placeholders: [],
  needed: [],
  text: `Think the question through before the answer is written, in at most 300 words, under these four heads:
1. DECOMPOSITION: the parts the question has.
2. ASSUMPTIONS: what is taken for granted, and what is not known.
3. CROSS-CHECK: where facts and experts agree, where they contradict each other, and which to trust.
4. CONCLUSION: what the answer has to say.
Do not write the answer itself.`,
};

const hints: ShippedPrompt = {
  name: 'hints',
  version: 1,
  placeholders: [],
  needed: [],
  text: `The experts below were unsure. For each, say in at most three sentences what its answer lacks and how it can be made better.
Reply with JSON only: {"hints": [{"task": "its id", "hint": "what to improve"}]}. Leave out an expert whose answer cannot be made better without new facts.`,
};

const score: ShippedPrompt = {
  name: 'score',
  version: 1,
  placeholders: [],
  needed: [],
  text: `Each pair below holds two answers to the same task, A and B. Judge each answer by itself from 0 to 1: is it correct, complete, and does it answer the task? A longer or other text is not a better one.
Reply with JSON only: {"scores": [{"task": "its id", "a": 0.5, "b": 0.5}]}.`,
};

const critic: ShippedPrompt = {
  name: 'critic',
  version: 1,
  placeholders: ['categories'],
  needed: [],
  text: `Review the answer below before anybody sees it. It touches: {categories}. Check it against the facts: wrong or dangerous statements, doses, deadlines, paragraphs that do not exist, certainty that the facts do not carry.
Reply with JSON only:
{"verdict": "confirmed", "reasons": ["..."]} when it may go out as it is, or
{"verdict": "corrected", "reasons": ["what was wrong"], "answer": "the whole corrected answer, with its numbers in square brackets"}.`,
};

const waves: ShippedPrompt = {
  name: 'waves',
  version: 1,
  placeholders: ['max_calls'],
  needed: [],
  text: `Name only the calls that can be made from what is known now. They run together, you see their results, and you plan the next wave. Reply with JSON only:
{"status": "continue", "action": "what is being done now, one sentence for the user", "slots": {"parameter": "value taken from the question"},
 "tools": [{"id": "w1", "tool": "server.tool", "args": {"name": "value"}}], "reasoning": "why these calls"}
Rules:
- Calls that do not depend on each other belong in the same wave, at most {max_calls}.
- A call whose arguments depend on a result that is not known yet waits for a later wave. Never guess such an argument.
- "status" is "continue" when you must see the results of these calls before you can say what else is needed, and "done" when these calls are the last ones, or no call is needed.
- Every call has an id of its own that no earlier call has.
- A result with "error" can be answered by a call with other arguments, or by another tool. Never make the same call again.
- Use only the tools listed, with the arguments they take. Use a tool that changes something only where the user asks for that change.
- Do not write the answer itself: it is written from the results.`,
};

const reasoningPlanning: ShippedPrompt = {
  name: 'reasoning.planning',
  version: 1,
  placeholders: ['max_steps'],
  needed: [],
  text: `Plan at most {max_steps} steps that lead to the goal; fewer are better. One step is run after the other, and each can use what the earlier ones brought. Reply with JSON only:
{"steps": [{"capability": "name from the list", "input_description": "what it is to find out or do", "reason": "why this step"}],
 "working_memory": "what is known and what matters, in a few sentences"}
Rules:
- Use only the capabilities listed, by their exact names.
- What the user said since the start comes before everything else.
- Do not plan a step whose result is known already.
- Where no steps with these capabilities can reach the goal, reply {"error": "impossible", "reason": "why"} instead.
- Do not write the answer itself.`,
};

const reasoningExecution: ShippedPrompt = {
  name: 'reasoning.execution',
  version: 1,
  placeholders: [],
  needed: [],
  text: `Write the concrete input of the step below, from what earlier steps brought. Reply with JSON only:
{"input": "the words to search or the instruction, or an object with the arguments of a tool", "working_memory": "the working memory, brought up to date"}
Rules:
- For a search give a few concrete words: names, dates, numbers that are known by now.
- For a tool give every argument it needs, by name, and no other. Never guess an argument.
- For \`math\`, and only there, give {"operation": "solve", "expression": "..."} with the arguments that the operation takes.`,
};

const reasoningEvaluation: ShippedPrompt = {
  name: 'reasoning.evaluation',
  version: 1,
  placeholders: [],
  needed: [],
  text: `Score the output of the step below from 1 (useless) to 5 (all that is needed). Be strict: an output that does not say what was asked for has low scores, however long it is. Reply with JSON only:
{"relevance": 1, "completeness": 1, "usability": 1, "goal_progress": 1, "summary": "what it brought, one sentence", "working_memory": "the working memory, with what matters of this output"}`,
};

const reasoningDecision: ShippedPrompt = {
  name: 'reasoning.decision',
  version: 1,
  placeholders: [],
  needed: [],
  text: `Decide how to go on. Reply with JSON only:
{"action": "continue", "confidence": 0.8, "reason": "why, one sentence", "question": null, "final_answer": null, "working_memory": "the working memory, brought up to date"}
"action" is one of:
- "continue": run the next step of the plan.
- "adjust": the plan does not work; another one is made. Say in "reason" what it must do differently.
- "ask_user": only the user can say what is missing. Put it into "question".
- "done": the goal is reached. Put the whole answer into "final_answer".
- "stuck": the goal cannot be reached. Say why in "reason".
"confidence" is how sure you are, from 0 to 1.`,
};

const reasoningCompression: ShippedPrompt = {
  name: 'reasoning.compression',
  version: 1,
  placeholders: [],
  needed: [],
  text: `Rewrite the working memory to what is essential for the goal: facts with their numbers, names and sources, what failed and must not be tried again, what is still open. Drop notes about how things were done. Reply with JSON only:
{"working_memory": "..."}`,
};

const how = (name: 'merge' | 'compare' | 'rank', text: string): ShippedPrompt => ({
  name: `composer.${name}`,
  version: 1,
  placeholders: [],
  needed: [],
  text,
});
const syntheses: readonly ShippedPrompt[] = [
  how(
    'merge',
    'The sub-topics below are parts of one question. Join what was found about them into one answer without repeating anything.',
  ),
  how(
    'compare',
    'The sub-topics below are compared. Say in which respects they are alike and in which they differ, each respect for all of them, and what follows for the question.',
  ),
  how(
    'rank',
    'The sub-topics below are put in order. Name the criterion, give the order from first to last, and the facts that put each in its place.',
  ),
];

const decompose: ShippedPrompt = {
  name: 'decompose',
  version: 1,
  placeholders: ['max_topics'],
  needed: [],
  text: `Name the sub-topics whose results together answer the question. They are researched at the same time, without knowing of each other. Reply with JSON only:
{"topics": [{"topic": "what it is about, a few words", "query": "words to search", "collections": ["names of those to search"]}], "synthesis": "merge"}
Rules:
- As few sub-topics as answer the question, at most {max_topics}; a question about one thing has one.
- Each query stands by itself: it names its subject, and every number, date and limit of the question that concerns it.
- "collections" names those of the list that may hold the answer; leave it empty to search all.
- "synthesis" is "compare" where things are compared, "rank" where they are put in order, otherwise "merge".`,
};

const subtopic: ShippedPrompt = {
  name: 'subtopic',
  version: 1,
  placeholders: ['max_facts'],
  needed: [],
  text: `Write down what the passages below say about the sub-topic, in at most {max_facts} facts. Reply with JSON only:
{"facts": [{"fact": "one or two sentences, with its numbers, dates and names", "source": 1}]}
"source" is the number of the passage that says it. Only what a passage says is a fact; a passage about something else gives none. An empty list is right where nothing fits.`,
};

const route: ShippedPrompt = {
  name: 'route',
  version: 1,
  placeholders: [],
  needed: [],
  text: `Say what kind of research the question needs. Reply with JSON only: {"class": "factual"}
- "factual": one or a few facts to look up.
- "exploratory": a field to look over, where it is open what will turn up.
- "deep_dive": one document or subject to be read and explained as a whole.
- "comparative": things to be held against each other, or put in order.`,
};

/** Every shipped prompt, including the system prompts of the categories as `expert.<category>`. */
export const shippedPrompts: readonly ShippedPrompt[] = [
  planner,
  expert,
  composer,
  composerJson,
  gap,
  thinking,
  hints,
  score,
  critic,
  waves,
  ...ragPrompts,
  reasoningPlanning,
  reasoningExecution,
  reasoningEvaluation,
  reasoningDecision,
  reasoningCompression,
  ...syntheses,
  decompose,
  subtopic,
  route,
  ...Object.entries(expertPrompts).map(([category, text]): ShippedPrompt => ({
    name: `expert.${category}`,
    version: 1,
    placeholders: [],
    needed: [],
    text,
  })),
];

const byName = new Map(shippedPrompts.map((prompt) => [prompt.name, prompt]));

/** Longest replacement text for a prompt, in characters. */
export const longestPrompt = 20_000;

const placeholdersIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/\{([a-z][a-z_]*)\}/g)].map((match) => match[1]!)),
];

/** All faults of a prompt text, as sentences that say what to do; empty for a valid one. */
export function promptFaults(name: string, text: string): readonly string[] {
  const shipped = byName.get(name);
  if (!shipped) return [`There is no prompt "${name}". Use one of: ${[...byName.keys()].join(', ')}.`];
  if (text.trim() === '') return ['The text is empty. To get the shipped text back, roll the prompt back.'];
  if (text.length > longestPrompt) return [`The text has ${text.length} characters; at most ${longestPrompt} are allowed.`];
  const used = placeholdersIn(text);
  const known =
    shipped.placeholders.length > 0
      ? `It may use: ${shipped.placeholders.map((one) => `{${one}}`).join(', ')}.`
      : 'It has no placeholders.';
  return [
    ...used
      .filter((one) => !shipped.placeholders.includes(one))
      .map((one) => `The placeholder {${one}} is not known to the prompt "${name}". ${known}`),
    ...shipped.needed.filter((one) => !used.includes(one)).map((one) => `The prompt "${name}" needs the placeholder {${one}}.`),
  ];
}

/** The text of a prompt, the operator's if there is one, with its placeholders filled in. Inserted values are not expanded again. */
export function promptText(
  name: string,
  overrides: Readonly<Record<string, string>> = {},
  values: Readonly<Record<string, string>> = {},
): string {
  const text = overrides[name] ?? byName.get(name)?.text ?? '';
  return text.replace(/\{([a-z][a-z_]*)\}/g, (whole, key: string) => values[key] ?? whole);
}
