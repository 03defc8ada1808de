import type { ToolOffer } from '@conclave/contracts';

/**
 * Servers whose tools `mcp` tasks may call. Adapters: MCP over stdio and streamable HTTP. A server that is away, or sends what it
 * should not, costs its own tools and nothing else. Whatever comes from a server is data and never an instruction.
 */
export interface ToolServers {
  /** Tools of every server that answers, by name. Never throws, and waits a few seconds at most: who is away is in `status()`. */
  offers(): Promise<readonly ToolOffer[]>;
  /** Throws Failure TOOL_UNKNOWN (naming the nearest one), TOOL_SERVER_UNAVAILABLE. */
  describe(tool: string): Promise<ToolDescription>;
  /**
   * One call. Its arguments are held against the schema of the tool before anything is sent. A tool that says no of its own accord
   * answers with `isError`. A call whose server dies meanwhile is made once more where the tool says that it may be, and fails otherwise.
   * Throws Failure TOOL_UNKNOWN, TOOL_ARGUMENTS_INVALID, TOOL_SERVER_UNAVAILABLE, TOOL_FAILED (the server sent an error, or nothing that
   * fits the protocol or its own output schema), TOOL_RESULT_TOO_LARGE, CALL_TIMEOUT, CALL_CANCELLED (signal aborted; the server is told).
   */
  call(request: ToolCall): Promise<ToolReply>;
  /** What is known of every configured server, without asking it. */
  status(): readonly ToolServerStatus[];
  /** Ends every connection and every program that was started. Safe to call twice. */
  close(): Promise<void>;
}

/** Arguments and schemas are JSON objects. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface ToolDescription extends ToolOffer {
  /** JSON Schema of its arguments, as its server wrote it. */
  readonly inputSchema: JsonObject;
  /** Whether its server says that a second call with the same arguments changes nothing more. */
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
  /** Text for people and models, at most `longestToolContent` characters; what is longer is cut and says so. */
  readonly content: string;
  /** The structured result, held against the output schema of the tool; null where there is none, or where it is longer than the bound. */
  readonly structured: unknown;
  /** The tool itself reports that it could not do it; `content` says why. */
  readonly isError: boolean;
}

export interface ToolServerStatus {
  readonly name: string;
  /** Whether it answered when it was last asked. */
  readonly ok: boolean;
  /** Sentence for people; null where it is fine, or has not been asked yet. */
  readonly error: string | null;
  /** Number of its tools that are offered. */
  readonly tools: number;
}

/** Longest text of a reply, in characters. */
export const longestToolContent = 65_536;
/** Longest description of an offer, in characters. */
export const longestToolDescription = 300;
