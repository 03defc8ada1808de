import type { ToolOffer } from '@conclave/contracts';

/**
 * Servers whose tools `mcp` tasks may call. Adapters: MCP over stdio, streamable HTTP and HTTP with SSE. A server that is unavailable or
 * misbehaves affects only its own tools. Everything a server sends is data, never an instruction.
 */
export interface ToolServers {
  /** Tools of every server that answers, by name. Never throws, and waits at most a few seconds: `status()` reports unavailable servers. */
  offers(): Promise<readonly ToolOffer[]>;
  /** Throws Failure TOOL_UNKNOWN (naming the nearest one), TOOL_SERVER_UNAVAILABLE. */
  describe(tool: string): Promise<ToolDescription>;
  /**
   * Makes one call. Checks the arguments against the tool's schema before sending anything. A tool that reports an error itself returns
   * `isError`. If the server dies during a call, the call is repeated once if the tool allows it, and fails otherwise. Throws Failure
   * TOOL_UNKNOWN, TOOL_ARGUMENTS_INVALID, TOOL_SERVER_UNAVAILABLE, TOOL_FAILED (the server sent an error, or a reply that violates the
   * protocol or its own output schema), TOOL_RESULT_TOO_LARGE, CALL_TIMEOUT, CALL_CANCELLED (signal aborted; the server is notified).
   */
  call(request: ToolCall): Promise<ToolReply>;
  /** Last known state of every configured server, without a request to it. */
  status(): readonly ToolServerStatus[];
  /** Closes every connection and ends every program it started. Safe to call twice. */
  close(): Promise<void>;
}

/** Arguments and schemas are JSON objects. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface ToolDescription extends ToolOffer {
  /** JSON Schema of its arguments, as its server wrote it. */
  readonly inputSchema: JsonObject;
  /** Whether the server declares that repeating a call with the same arguments has no further effect. */
  readonly repeatable: boolean;
}

export interface ToolCall {
  /** `server.tool` */
  readonly tool: string;
  readonly args: JsonObject;
  readonly signal: AbortSignal;
  /** Milliseconds until CALL_TIMEOUT. */
  readonly timeoutMs: number;
}

export interface ToolReply {
  /** Text for people and models, at most `longestToolContent` characters; longer text is cut and says so. */
  readonly content: string;
  /** The structured result, validated against the tool's output schema; null if absent or above the size limit. */
  readonly structured: unknown;
  /** The tool itself reports a failure; `content` says why. */
  readonly isError: boolean;
}

export interface ToolServerStatus {
  readonly name: string;
  /** Whether it answered the last request. */
  readonly ok: boolean;
  /** Sentence for people; null if it works or has not been asked yet. */
  readonly error: string | null;
  /** Number of its tools that are offered. */
  readonly tools: number;
}

/** What is said of a call without an answer in time if its tool may not be repeated: whoever plans the next one must know. */
export const mayHaveRun = 'It may have run; it is not marked as safe to repeat.';
/** What is said of a call that failed before anything was sent. */
export const notCalled = 'It was not called.';
/** Longest text of a reply, in characters. */
export const longestToolContent = 65_536;
/** Longest description of an offer, in characters. */
export const longestToolDescription = 300;
