import { asData, bounded, sections, type PromptMessage } from '../prompts/quoting.js';

/** Most characters of a faulty reply that are quoted back. */
const shownOfReply = 4_000;
/** Tokens that a faulty reply and its faults may take of a prompt. */
export const reAskTokens = 1_500;

/** Lowest temperature of a re-ask: at 0, a weak model repeats the reply that it is shown, word for word. */
export const reAskTemperature = 0.4;

/**
 * The same prompt followed by the unusable reply and its faults. The reply is quoted, so that nothing in it is an instruction, and the
 * message roles still alternate.
 */
export function reAsked(messages: readonly PromptMessage[], reply: string, faults: readonly string[]): readonly PromptMessage[] {
  const last = messages.at(-1);
  const again = sections(
    'You were asked this before, and replied:',
    asData(bounded(reply, shownOfReply)),
    `That reply cannot be used:\n${faults.map((fault) => `- ${fault}`).join('\n')}\nReply again, in the form asked for and with nothing else.`,
  );
  return last ? [...messages.slice(0, -1), { ...last, content: sections(last.content, again) }] : [{ role: 'user', content: again }];
}
