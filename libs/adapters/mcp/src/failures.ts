import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { Failure } from '@conclave/contracts';
import { connectionWords, oneLine } from '@conclave/ports';
import { LostReply } from './lost-reply.js';

const longestSentence = 500;

/** The failure of a connection attempt. */
export function connectFailure(error: unknown): Failure {
  const failure = callFailure(error);
  if (failure instanceof LostReply) return failure.failure;
  if (failure.code === 'TOOL_SERVER_UNAVAILABLE' || failure.code === 'TOOL_RESULT_TOO_LARGE') return failure;
  return new Failure('TOOL_SERVER_UNAVAILABLE', `It does not follow the protocol of MCP servers: ${failure.detail ?? ''}`, {
    cause: error,
  });
}

/** The failure of a request without a proper answer. */
export function callFailure(error: unknown): Failure | LostReply {
  if (error instanceof Failure || error instanceof LostReply) return error;
  if (error instanceof McpError) {
    if (error.data instanceof LostReply) return error.data;
    return new Failure('TOOL_FAILED', `Its server says: ${oneLine(error.message, longestSentence)}`, { cause: error });
  }
  if (error instanceof StreamableHTTPError) return statusFailure(error.code, 'It', error);
  const code = networkCode(error);
  if (code !== null) {
    const never = neverSent.has(code);
    return new LostReply(
      new Failure('TOOL_SERVER_UNAVAILABLE', `Check that it runs at its address (${connectionWords(code)}).`, { cause: error }),
      !never,
    );
  }
  return new Failure('TOOL_FAILED', 'Its server sent a result that does not follow the protocol.', { cause: error });
}

/** Statuses that say nothing about the transport: keys, load, or a server that is away. */
const saysNothing: ReadonlySet<number | undefined> = new Set([401, 403, 429, 502, 503, 504]);

/** Whether an address answered, but not like a server of streamable HTTP. */
export const speaksOtherwise = (error: unknown): boolean =>
  error instanceof StreamableHTTPError
    ? !saysNothing.has(error.code)
    : !(error instanceof Failure || error instanceof McpError) && networkCode(error) === null;

/** Error codes of requests that never reached the server. */
const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** Code of an error of `fetch` for a missing or broken response; null for any other error. */
function networkCode(error: unknown): string | null {
  // By name: errors of Node itself may come from another realm.
  const { name, message, cause } = error as { name?: unknown; message?: unknown; cause?: { code?: unknown } };
  if (name === 'AbortError') return 'closed';
  if (name !== 'TypeError') return null;
  if (typeof cause?.code === 'string') return cause.code;
  return message === 'fetch failed' || message === 'terminated' ? 'no answer' : null;
}

/** The failure of a request with this status. `who` begins the sentence. */
export function statusFailure(status: number | undefined, who: string, cause?: Error): Failure | LostReply {
  const unavailable = (detail: string): Failure => new Failure('TOOL_SERVER_UNAVAILABLE', detail, cause === undefined ? {} : { cause });
  switch (status) {
    case 401:
    case 403:
      return unavailable(`${who} answers with status ${status}. Check what \`headers_env\` sends to it.`);
    // A restarted server does not know the session and has not run the request.
    case 400:
    case 404:
      return new LostReply(unavailable(`${who} answers with status ${status}. Check its address.`), false);
    case -1:
      return unavailable('It does not answer like an MCP server. Check its address.');
    default:
      return unavailable(`${who} answers with status ${status ?? 'unknown'}.`);
  }
}
