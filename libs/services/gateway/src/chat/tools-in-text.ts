import type { ChatMessage, ModelChoice, Template } from '@conclave/contracts';
import { readContent } from '../attachments/content-parts.js';

/**
 * Labels at the start of a line, which the programs of the ReAct form look for in a reply. They stay in English when such a prompt is
 * translated, because the program reads them.
 */
const result = /^[^\S\n]{0,20}[*_`"'>-]{0,4}Observation[*_]{0,2}:/mu;
const step = /^[^\S\n]{0,20}[*_`"'>-]{0,4}(?:Thought|Action|Tool)[*_]{0,2}:/mu;
/** A label that waits for its text. */
const openLabel = /(?:^|\n)[^\n:]{1,40}:\s{0,8}$/u;
/** Longer prompts are read only so far: tools are described before the work is. */
const longest = 200_000;

const describesSteps = (text: string): boolean => result.test(text) && step.test(text);

/** Text at which the program wants the reply to end, because what follows is the program's to write. */
const stopsAtResult = (stop: unknown): boolean =>
  (Array.isArray(stop) ? stop : [stop]).some((one) => typeof one === 'string' && /^\s{0,8}Observation:?\s{0,8}$/u.test(one));

/**
 * Whether the request is a step of an agent whose tools are described in words: the model names a tool in its text, and the program
 * sends back what the tool returned, as text too. Such a program says where the reply is to end, or its form is prescribed by a system
 * message, or by a prompt that is the whole request and breaks off where the reply begins.
 */
export function hasToolsInText({ messages, stop }: { readonly messages: readonly ChatMessage[]; readonly stop?: unknown }): boolean {
  if (stopsAtResult(stop)) return true;
  const texts = messages.map((message) => ({ role: message.role, text: readContent(message).text.slice(0, longest) }));
  if (texts.some(({ role, text }) => isSystem(role) && describesSteps(text))) return true;
  const [only, ...others] = texts.filter(({ role }) => !isSystem(role));
  return only !== undefined && others.length === 0 && describesSteps(only.text) && openLabel.test(only.text);
}

const isSystem = (role: ChatMessage['role']): boolean => role === 'system' || role === 'developer';

/** The models for such a step: the one for tools, else those that write the answers of the template. */
export const stepModels = ({ tool_model: model, judge }: Pick<Template, 'tool_model' | 'judge'>): string | ModelChoice =>
  model ?? { models: [...judge.models], use: 'fallback' };
