import { type CountTokensRequest, estimateTokens } from '@conclave/contracts';
import { turnsOf } from './messages-request.js';

/** Estimated tokens of an image or a file, whatever its size. */
const attachmentTokens = 1_000;
/** Tokens of the separators around one message. */
const messageTokens = 4;

type Loose = Readonly<Record<string, unknown>>;

/** Estimated tokens of one prompt of the request. */
export function estimateInput(request: CountTokensRequest): number {
  const { messages } = turnsOf(request);
  const tools = request.tools && request.tools.length > 0 ? estimateTokens(JSON.stringify(request.tools)) : 0;
  return messages.reduce((sum, message) => sum + messageTokens + tokensOf(message), tools);
}

function tokensOf({ content, tool_calls: calls }: Loose): number {
  const called = calls ? estimateTokens(JSON.stringify(calls)) : 0;
  if (typeof content === 'string') return called + estimateTokens(content);
  if (!Array.isArray(content)) return called;
  return (content as readonly Loose[]).reduce(
    (sum, { type, text }) => sum + (type === 'text' ? estimateTokens(typeof text === 'string' ? text : '') : attachmentTokens),
    called,
  );
}
