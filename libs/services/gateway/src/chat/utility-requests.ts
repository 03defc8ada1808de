import {
  asksForQuery,
  asksForTitle,
  readUtilityPrompt,
  shapedReply,
  taskHeader,
  type Template,
  type UtilityPrompt,
  utilityPromptOf,
} from '@conclave/contracts';
import { sizeOf } from '@conclave/platform';
import type { JsonObject, ModelInfo } from '@conclave/ports';
import type { ChatQuestion } from './chat-request.js';
import { withoutThinking } from './history-text.js';
import type { RequestHeaders } from './option-headers.js';

const onlyLabel = /^[^\n]{1,40}:\s*$/u;

/** The front end's own request; null for a question of its user. */
export function readUtility(question: ChatQuestion, headers: RequestHeaders): UtilityPrompt | null {
  const said = headers[taskHeader];
  // A front end that does not know the placeholder sends it unreplaced.
  if (typeof said === 'string' && said.trim() !== '' && !said.includes('{{')) return utilityPromptOf(question.goal);
  if (question.behindAnswer !== null) return utilityPromptOf(question.behindAnswer);
  if (question.given.length > 0) return null;
  // The chat itself may be in the messages: its title is wanted in the system prompt, or in the last message.
  const titled = [question.system ?? '', question.goal].find(asksForTitle);
  if (titled !== undefined) return utilityPromptOf(titled, true);
  // The whole prompt may be in the system message: then the only message of the user is a heading for the reply.
  if (question.conversation.length === 0 && onlyLabel.test(question.goal) && asksForQuery(question.system ?? ''))
    return utilityPromptOf(question.goal);
  return question.conversation.length === 0 ? readUtilityPrompt(question.goal, false) : null;
}

/** Members passed on to the small model: the messages, and the length, sampling and format of the reply. */
const taken = ['messages', 'temperature', 'top_p', 'seed', 'stop', 'max_tokens', 'max_completion_tokens', 'response_format'] as const;

export const utilityBody = (body: JsonObject): JsonObject => ({
  ...Object.fromEntries(taken.flatMap((name) => (body[name] === undefined || body[name] === null ? [] : [[name, body[name]]]))),
  stream: false,
});

/** Converts the model's reply to the shape that the prompt asks for. */
export function inShape(reply: JsonObject, { shape }: UtilityPrompt): JsonObject {
  const [choice] = Array.isArray(reply['choices']) ? (reply['choices'] as readonly JsonObject[]) : [];
  const message = choice?.['message'] as JsonObject | undefined;
  if (!message) return reply;
  const text = withoutThinking(typeof message['content'] === 'string' ? message['content'] : '');
  const content = shape ? shapedReply(text, shape) : text;
  const { reasoning_content: _, reasoning: __, ...kept } = message;
  return { ...reply, choices: [{ ...choice, message: { ...kept, content } }] };
}

/**
 * The model for a template's utility prompts: the smallest by size among its own and the local ones; if no size is known, its
 * cheapest; without prices, its first.
 */
export function smallModel(template: Template, models: readonly ModelInfo[]): string {
  const own = [
    ...new Set([
      ...Object.values(template.experts).flatMap(({ t1, t2 = [] }) => [...t1, ...t2]),
      ...template.judge.models,
      ...template.planner.models,
    ]),
  ];
  const local = models.filter(({ local: isLocal, kind }) => isLocal && kind === 'chat').map(({ ref }) => ref);
  const sized = [...new Set([...own, ...local])].flatMap((ref) => {
    const size = sizeOf(models.find((one) => one.ref === ref) ?? { model: ref.slice(0, ref.lastIndexOf('@')) });
    return size === null ? [] : [{ ref, size }];
  });
  if (sized.length > 0) return sized.reduce((least, one) => (one.size < least.size ? one : least)).ref;
  const first = own[0]!;
  const costOf = (ref: string): number => template.prices[ref]?.output ?? Infinity;
  return own.reduce((least, ref) => (costOf(ref) < costOf(least) ? ref : least), first);
}
