import { asksForQuery } from './query-prompt.js';
import { asksForTitle } from './title-prompt.js';

/** A chat front end's own request beside the chat: a title, tags, follow-up questions, search queries, the end of a sentence. */
export interface UtilityPrompt {
  /** The JSON object it wants, derived from its example: one member, a text or a list of texts. Null if it wants plain text. */
  readonly shape: { readonly member: string; readonly list: boolean } | null;
  /** Turns of the chat it is about, if they can be recognised. */
  readonly turns: readonly { readonly asked: boolean; readonly text: string }[];
}

/** Longer prompts are ignored: front ends only send the last turns of a chat. */
const longest = 60_000;

/** HTML tags, which people also use in Markdown, and which therefore mark no block. */
const html: ReadonlySet<string> = new Set(
  'a article aside b blockquote body br center code dd details div dl dt em font footer h1 h2 h3 h4 h5 h6 head header html i iframe img kbd li main nav ol p picture pre s script section small span strong style sub summary sup svg table tbody td th thead title tr u ul video'.split(
    ' ',
  ),
);
/** The only text that may follow the last block of a prompt: a heading for the reply. */
const onlyHeading = /^(?:#{1,6} [^\n]{0,60})?$/u;

/** Start of a block such as `<chat_history>...</chat_history>`, whatever its name. */
const opening = /^[ \t]*<([\p{L}_][\p{L}\p{N}_-]{1,40})>/gmu;
/** Maximum number of opening tags examined. */
const mostBlocks = 64;

/** The consecutive blocks of a prompt, and the text around them. */
function blocksIn(text: string): { readonly inner: readonly string[]; readonly around: string; readonly rest: string } {
  const inner: string[] = [];
  let around = '';
  let from = 0;
  let tags = 0;
  for (const found of text.matchAll(opening)) {
    if (found.index < from || html.has(found[1]!.toLowerCase())) continue;
    if ((tags += 1) > mostBlocks) break;
    const start = found.index + found[0].length;
    const close = `</${found[1]!}>`;
    const end = text.indexOf(close, start);
    if (end < 0) continue;
    inner.push(text.slice(start, end));
    around += `${text.slice(from, found.index)}\n`;
    from = end + close.length;
  }
  const rest = text.slice(from);
  return { inner, around: around + rest, rest };
}

/** Turns as front ends write them into a prompt; the role names come from their code, not from the template. */
const turn = /^(USER|ASSISTANT): ?/mu;
const namedTurn = /^[^\S\n]{0,40}(User|Human|AI|Assistant): ?/mu;
const heading = /^#{2,6} \S/gmu;
/** An example of a JSON object with one member; the quoted text may itself be a placeholder. */
const example =
  /\{\s{0,20}"([\p{L}_][\p{L}\p{N}_-]{0,40})"\s{0,20}:\s{0,20}(?:(")(?:[^"\\\n]|\\.){0,200}"|(\[)[^[\]{}]{0,400}\])\s{0,20}\}/u;
/** Blocks of a question with documents in it, which is the user's own question. */
const documents = /<(?:context|user_query|sources?|documents?)\b/iu;

/** First words of prompts without other marks. Used only if such a prompt is the whole request. */
const openings = [
  /^analy[sz]e this conversation and provide:/iu,
  // Open WebUI, first versions
  /^create a concise, 3-5 word (?:phrase|title)\b/iu,
  /^your task is to reflect the speaker's likely facial expression/iu,
] as const;

/**
 * Recognises a front end's own prompt; null for any other text. It is detected by its structure, which survives translation: headings, a
 * block with the turns of a chat, an example of the JSON it wants. `isTitle`: whether it asks for a title, if that is known already.
 */
export function readUtilityPrompt(text: string, isTitle?: boolean): UtilityPrompt | null {
  if (text.length > longest) return null;
  const { inner, around, rest } = blocksIn(text);
  const turns = turnsOf(inner.filter((one) => turn.test(one)).join('\n'));
  const shape = shapeIn(around);
  const headings = around.match(heading)?.length ?? 0;
  const endsWithTurns = inner.length > 0 && rest.trim() === '' && turn.test(inner.at(-1)!) && turns.length > 1;
  const aboutTurns = turns.length > 0 && around.trim() !== '' && (shape !== null || headings >= 2 || endsWithTurns);
  // Without any turn yet: the end of a sentence, or a block that is still empty.
  const aboutBlock = inner.length > 0 && shape !== null && headings >= 2 && onlyHeading.test(rest.trim()) && !documents.test(text);
  if (aboutTurns || aboutBlock) return { shape, turns };
  if ((isTitle ?? asksForTitle(text)) || asksForQuery(text) || openings.some((words) => words.test(text.trimStart())))
    return { shape, turns: turns.length > 0 ? turns : turnsOf(text) };
  return null;
}

/** The utility prompt of a request that declares itself to be one: never null, but perhaps without turns and shape. */
export const utilityPromptOf = (text: string, isTitle?: boolean): UtilityPrompt =>
  readUtilityPrompt(text, isTitle) ?? { shape: shapeIn(blocksIn(text.slice(0, longest)).around), turns: turnsOf(text.slice(0, longest)) };

function shapeIn(text: string): UtilityPrompt['shape'] {
  const found = example.exec(text);
  return found ? { member: found[1]!, list: found[3] !== undefined } : null;
}

function turnsOf(text: string): UtilityPrompt['turns'] {
  const parts = text.split(turn.test(text) ? turn : namedTurn);
  const turns: { asked: boolean; text: string }[] = [];
  for (let at = 1; at + 1 < parts.length; at += 2) turns.push({ asked: /^(?:user|human)$/i.test(parts[at]!), text: parts[at + 1]!.trim() });
  return turns;
}

/** Maximum number of texts in a list, and of characters in a text, when they are derived from prose. */
const longestList = 5;
const longestText = 200;

/** A reply in the requested shape, as JSON: the object it contains, or one built from its prose. */
export function shapedReply(reply: string, shape: NonNullable<UtilityPrompt['shape']>): string {
  const { member, list } = shape;
  for (let at = reply.indexOf('{'), tries = 0; at >= 0 && tries < 20; at = reply.indexOf('{', at + 1), tries += 1) {
    const value = objectAt(reply, at)?.[member];
    if (list && Array.isArray(value)) return JSON.stringify({ [member]: value.filter((one) => typeof one === 'string') });
    if (!list && typeof value === 'string') return JSON.stringify({ [member]: value });
  }
  const lines = reply
    .split('\n')
    .map((line) => line.replace(/^[\s>#*\-\d.)\]("'“„]+|(?<![\s"'”,*])[\s"'”,*]+$/gu, ''))
    .filter((line) => /\p{L}/u.test(line) && !/[{}`]/u.test(line))
    .map((line) => line.slice(0, longestText));
  return JSON.stringify({ [member]: list ? lines.slice(0, longestList) : (lines[0] ?? '') });
}

/** The JSON object that begins at this position. */
function objectAt(text: string, from: number): Record<string, unknown> | null {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted) {
      if (letter === '\\') at += 1;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === '{') depth += 1;
    else if (letter === '}' && (depth -= 1) === 0) {
      try {
        return JSON.parse(text.slice(from, at + 1)) as Record<string, unknown>;
      } catch {
        return null;
      }
    }
  }
  return null;
}
