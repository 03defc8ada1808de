/** A question that a prompt labels, and the words around it. */
export interface LabelledQuestion {
  readonly question: string;
  readonly rest: string;
  /** Whether the label is a heading or in brackets, as people hardly write one. */
  readonly formal: boolean;
  /** Whether the label asks for the answer: `Answer the question:`. */
  readonly asks: boolean;
}

/** A prompt of one text that is quoted whole, and a question about it. */
export interface AskedOfContext {
  readonly context: string;
  readonly question: string;
  readonly instructions: string;
}

/**
 * Labels of a question at the beginning of a line, or behind two blanks: `Question:`, `Query:`, `[User query]:`, `## My question is:`.
 * English only, as in the prompts that programs have.
 */
const label =
  /(?:(?:^|\n)[^\S\n]?|[^\S\n]{2})(?:#{1,4} |\[)?(?:answer )?(?:(?:the |my |this |user(?:'s)? |input )?(?:given |following )?(?:question|query))(?: is| to answer)?\]?:[^\S\n]*/giu;
const headed = /^\s*#{1,4} /u;
const formal = /^\s*(?:#{1,4} |\[)/u;
const contextLabel = /(?:^|\n)[^\S\n]{0,40}(?:context|documents|passages|excerpts|sources):/iu;
/** The place for the answer, at the end of a prompt: `Helpful Answer:`. */
const slot = /(?:^|\s)(?:[a-z]{1,20} )?(?:answer|response):\s*$/iu;
const slotLength = 60;
/** An answer of its own, as examples and questions with answers have it. */
export const answered = /\n[^\S\n]{0,40}(?:[a-z]{1,20} )?answer:/iu;
/** A line that sets a part of a prompt off from the rest. */
const rule = /\n[^\S\n]{0,40}(-{3,200}|={3,200})[^\S\n]{0,40}(?=\n)/g;
/** First words of a prompt that announce what is quoted. */
const announced = /\b(?:context|passages|documents|excerpts|paragraphs|information)\b/iu;
const longestFirst = 2_000;

/** The question behind the last label; behind a heading, up to the next heading. Null without one. */
export function askedIn(text: string): LabelledQuestion | null {
  const found = [...text.matchAll(label)].at(-1);
  if (found === undefined) return null;
  const behind = text.slice(found.index + found[0].length);
  const next = headed.test(found[0]) ? /\n#{1,4} /u.exec(behind) : null;
  const question = behind.slice(0, next?.index).trim();
  if (question === '') return null;
  return {
    question,
    formal: formal.test(found[0]),
    asks: /\banswer /iu.test(found[0]),
    rest: joined(withoutRule(text.slice(0, found.index)), next ? behind.slice(next.index) : ''),
  };
}

/**
 * A text in a `<context>`, between two rules, or behind first words that announce it, and the labelled question about it, as LangChain and
 * LlamaIndex put them into one message. Null for any other text: without `<context>` the label must ask for the answer, or its place end
 * the prompt.
 */
export function contextIn(text: string): AskedOfContext | null {
  const prompt = withoutSlot(text);
  const isAsked = prompt !== text || askedIn(prompt)?.asks;
  const found = inElement(prompt) ?? (!isAsked || answered.test(prompt) ? null : (betweenRules(prompt) ?? behindWords(prompt)));
  return found === null || found.context === '' || found.question === '' ? null : found;
}

/** A prompt without the place for the answer at its end. */
export function withoutSlot(text: string): string {
  const ending = text.slice(-slotLength);
  const place = slot.exec(ending);
  return place ? text.slice(0, text.length - ending.length + place.index) : text;
}

function inElement(text: string): AskedOfContext | null {
  const element = contextElement(text);
  const asked = element && askedIn(element.around);
  return asked ? { context: element.context, question: asked.question, instructions: asked.rest } : null;
}

/** The content of a `<context>` that begins a line, up to its last end, and the words around it; null without one. */
export function contextElement(text: string): { readonly context: string; readonly around: string } | null {
  const open = /(?:^|\n)[^\S\n]{0,40}<context>/iu.exec(text);
  const end = open ? text.lastIndexOf('</context>') : -1;
  if (open === null || end < open.index) return null;
  const context = text.slice(open.index + open[0].length, end).trim();
  return context === '' ? null : { context, around: joined(text.slice(0, open.index), text.slice(end + '</context>'.length)) };
}

function betweenRules(text: string): AskedOfContext | null {
  const [first, ...others] = text.matchAll(rule);
  const last = others.at(-1);
  if (first === undefined || last === undefined || first[1] !== last[1]) return null;
  const asked = askedIn(text.slice(last.index + last[0].length));
  if (asked === null) return null;
  const context = text.slice(first.index + first[0].length, last.index).trim();
  return { context, question: asked.question, instructions: joined(text.slice(0, first.index), asked.rest) };
}

function behindWords(text: string): AskedOfContext | null {
  const labelled = contextLabel.exec(text);
  const [first] = text.matchAll(label);
  if (labelled && first && first.index < labelled.index)
    return {
      context: text.slice(labelled.index + labelled[0].length).trim(),
      question: text.slice(first.index + first[0].length, labelled.index).trim(),
      instructions: text.slice(0, first.index).trim(),
    };
  const asked = askedIn(text);
  if (asked && labelled && text.slice(0, labelled.index).trim() === '')
    return { context: asked.rest.replace(contextLabel, '').trim(), question: asked.question, instructions: '' };
  const words = /:[^\S\n]*\n|\n[^\S\n]{0,40}\n|[^\S\n]{2}/u.exec(text.slice(0, longestFirst));
  if (asked === null || words === null || !announced.test(text.slice(0, words.index))) return null;
  const instructions = text.slice(0, words.index + (words[0].startsWith(':') ? 1 : 0)).trim();
  return { context: asked.rest.slice(instructions.length).replace(contextLabel, '').trim(), question: asked.question, instructions };
}

const joined = (...parts: readonly string[]): string =>
  parts
    .map((part) => part.trim())
    .filter(Boolean)
    .join('\n\n');

/** A text without the line at its end that sets the question off. */
const withoutRule = (text: string): string => {
  const words = text.trimEnd();
  const at = words.lastIndexOf('\n') + 1;
  return /^(?:-{3,200}|={3,200})$/u.test(words.slice(at).trim()) ? words.slice(0, at) : words;
};
