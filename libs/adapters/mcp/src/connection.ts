import { performance } from 'node:perf_hooks';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, McpError, ToolListChangedNotificationSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { apiVersion, Failure } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import { mayHaveRun, oneLine, type JsonObject, type ToolReply } from '@conclave/ports';
import { AddressTransport } from './address-transport.js';
import type { ServerBounds } from './bounds.js';
import { callFailure, connectFailure } from './failures.js';
import { GuardedFetch } from './guarded-fetch.js';
import type { Launch } from './launch-plan.js';
import { LostReply } from './lost-reply.js';
import { ProgramLog } from './program-log.js';
import { ProgramTransport } from './program-transport.js';
import { CallResult, replyOf } from './reply-text.js';
import { listTools, ToolPage, type ListedTool } from './tool-list.js';

export interface ConnectionParts {
  readonly name: string;
  readonly launch: Exclude<Launch, { kind: 'refused' }>;
  readonly bounds: ServerBounds;
  readonly logger: Logger;
  /** Called once, when the connection has ended by itself or was dropped. `idle`: its stream ended while it had nothing to do. */
  onEnd(failure: Failure, idle: boolean): void;
}

/** Longer than any call: this class does the timing, so that a server cannot fake one of our timeouts. */
const neverMs = 2_147_483_647;

/** Requests of servers that are refused, in words. */
const wanted: Readonly<Record<string, string>> = {
  'elicitation/create': 'the answer of a person (elicitation)',
  'sampling/createMessage': 'the reply of a model (sampling)',
  'roots/list': 'the folders of its client (roots)',
};

/** Two texts as sentences that follow each other; the first one is that of a server, and may lack its full stop. */
const asSentences = (said: string, more: string): string => {
  const first = said.trim();
  return first === '' ? more : `${first}${/[.!?]$/.test(first) ? '' : '.'} ${more}`;
};

/** One connection to a server, from its first message to its end; never reused. */
export class ServerConnection {
  tools: ReadonlyMap<string, ListedTool> = new Map();
  private listedAt = 0;
  private listing: Promise<void> | null = null;
  private listAgain: NodeJS.Timeout | null = null;
  /** Sentences on the tools that the last list left out. */
  private left: readonly string[] = [];
  private failure: Failure | null = null;
  private ready = false;
  private endedEarly = false;
  /** Calls and pings in progress. */
  private asking = 0;
  private unasked = { second: 0, messages: 0 };
  /** The last request of the server that was refused. */
  private refused = { method: '', at: Number.NEGATIVE_INFINITY };
  private readonly client = new Client(
    { name: 'conclave', version: apiVersion },
    // Interprets schemas; the default would make code from them.
    { jsonSchemaValidator: new CfWorkerJsonSchemaValidator() },
  );
  private readonly program: ProgramTransport | null;
  private readonly programLog: ProgramLog;
  private readonly address: AddressTransport | null;
  private readonly guard: GuardedFetch;

  constructor(private readonly parts: ConnectionParts) {
    const { launch, bounds, name, logger } = parts;
    this.guard = new GuardedFetch(bounds, { onLost: (id, failure) => this.lose(id, failure) });
    this.programLog = new ProgramLog(name, logger);
    this.program = launch.kind === 'program' ? new ProgramTransport(launch, bounds, this.programLog) : null;
    this.address = launch.kind === 'address' ? new AddressTransport(launch, bounds, this.guard) : null;
  }

  /** Connects and lists the tools. Call it once. Throws TOOL_SERVER_UNAVAILABLE or TOOL_RESULT_TOO_LARGE. */
  async open(): Promise<void> {
    const { startMs, connectMs } = this.parts.bounds;
    const ms = this.program ? startMs : connectMs;
    const late = setTimeout(() => {
      const options = this.program ? { context: { said: this.programLog.last } } : {};
      this.drop(new Failure('TOOL_SERVER_UNAVAILABLE', `It was not ready within ${ms} ms.`, options));
    }, ms);
    try {
      await this.begin();
      this.ready = true;
      if (this.failure || this.endedEarly) throw this.failure ?? this.ended();
    } catch (error) {
      const failure = this.failure ?? this.transport.failure ?? connectFailure(error);
      this.drop(failure);
      throw failure;
    } finally {
      clearTimeout(late);
    }
  }

  get pid(): number | null {
    return this.program?.pid ?? null;
  }

  private get transport(): ProgramTransport | AddressTransport {
    return this.program ?? this.address!;
  }

  private async begin(): Promise<void> {
    const transport = this.transport;
    transport.onLost = (id, failure) => this.lose(id, failure);
    transport.onmessage = (message) => this.count(message);
    this.client.onclose = () => {
      // Until it is ready, `open` knows the cause better.
      if (this.ready) this.drop(this.ended(), this.address?.failure?.code === 'TOOL_SERVER_UNAVAILABLE' && this.asking === 0);
      else this.endedEarly = true;
    };
    this.client.onerror = (error) => this.noticed(error);
    // The same answer as without a handler; a tool that asks in vain says only that.
    this.client.fallbackRequestHandler = ({ method }) => {
      this.refused = { method, at: performance.now() };
      return Promise.reject(new McpError(ErrorCode.MethodNotFound, 'Method not found'));
    };
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.listSoon());
    await this.client.connect(transport, { timeout: neverMs });
    await this.list();
  }

  /** Throws what `ToolServers.call` throws, and LostReply when the connection is lost; its `sent` says whether the tool may have run. */
  async call(tool: ListedTool, args: JsonObject, signal: AbortSignal, timeoutMs: number): Promise<ToolReply> {
    if (this.failure) throw new LostReply(this.failure, false);
    // A separate signal: the client never stops listening to it, and would report answered calls as cancelled.
    const leaving = new AbortController();
    const leave = (): void => leaving.abort('cancelled');
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      leaving.abort('out of time');
    }, timeoutMs);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    this.asking += 1;
    const begun = performance.now();
    try {
      const request = { method: 'tools/call', params: { name: tool.name, arguments: { ...args } } };
      const result = await this.client.request(request, CallResult, { signal: leaving.signal, timeout: neverMs });
      if (tool.output && result.isError !== true) {
        if (result.structuredContent === undefined) throw new Failure('TOOL_FAILED', 'It declares a structured result but returned none.');
        const problem = tool.output.problem(result.structuredContent);
        if (problem) throw new Failure('TOOL_FAILED', `Its structured result does not match its own schema: ${problem}`);
      }
      const reply = replyOf(result);
      const inVain = reply.isError ? this.askedInVain(begun) : null;
      return inVain === null ? reply : { ...reply, content: asSentences(reply.content, inVain) };
    } catch (error) {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      if (late) {
        void this.answers();
        const said = `The tool did not answer within ${Math.round(timeoutMs)} ms.`;
        throw new Failure('CALL_TIMEOUT', tool.repeatable ? said : `${said} ${mayHaveRun}`);
      }
      if (this.failure) throw new LostReply(this.failure, true);
      const failure = callFailure(error);
      const inVain = this.askedInVain(begun);
      if (failure instanceof LostReply || inVain === null) throw failure;
      throw new Failure(failure.code, asSentences(failure.detail ?? '', inVain), failure.options);
    } finally {
      this.asking -= 1;
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Whether the server still answers a ping; otherwise drops the connection, and its program with it. */
  async answers(): Promise<boolean> {
    if (this.failure) return false;
    const { pingMs } = this.parts.bounds;
    this.asking += 1;
    try {
      await this.client.ping({ timeout: pingMs });
      return true;
    } catch (error) {
      this.drop(new Failure('TOOL_SERVER_UNAVAILABLE', `It did not answer a ping within ${pingMs} ms.`, { cause: error }));
      return false;
    } finally {
      this.asking -= 1;
    }
  }

  /** Refreshes the list of tools if it is old; the known tools stay offered in the meantime. */
  listIfOld(): void {
    if (performance.now() - this.listedAt > this.parts.bounds.listAgeMs) this.listSoon();
  }

  /** Ends the connection at once. */
  drop(failure: Failure, idle = false): void {
    if (this.failure) return;
    this.failure = failure;
    this.end();
    this.program?.kill(failure);
    void this.client.close().catch((error: unknown) => this.noticed(error));
    this.guard.close();
    this.parts.onEnd(failure, idle);
  }

  /** Ends the connection as the protocol requires. */
  async close(): Promise<void> {
    if (this.failure) return this.program?.close();
    this.failure = new Failure('TOOL_SERVER_UNAVAILABLE', 'Its connection was closed.');
    this.end();
    if (this.address) {
      const late = setTimeout(() => this.guard.close(), 1_000);
      // An error is fine: a server that no longer knows the session has already ended it.
      await this.address.terminateSession().catch((error: unknown) => this.noticed(error));
      clearTimeout(late);
    }
    await this.client.close();
    this.guard.close();
    this.parts.onEnd(this.failure, false);
  }

  /** What the server asked for since `begun` and did not get, as a sentence; null for nothing. The tool may fail for no other reason. */
  private askedInVain(begun: number): string | null {
    const { method, at } = this.refused;
    return at < begun ? null : `Meanwhile its server asked for ${wanted[method] ?? oneLine(method, 60)}, which is not supported.`;
  }

  private ended(): Failure {
    return this.transport.failure ?? new Failure('TOOL_SERVER_UNAVAILABLE', 'Its connection ended.');
  }

  private end(): void {
    if (this.listAgain) clearTimeout(this.listAgain);
    this.listAgain = null;
  }

  private list(): Promise<void> {
    this.listing ??= this.listNow().finally(() => (this.listing = null));
    return this.listing;
  }

  private async listNow(): Promise<void> {
    const { bounds, name, logger } = this.parts;
    this.listedAt = performance.now();
    if (!this.client.getServerCapabilities()?.tools) {
      this.tools = new Map();
      return;
    }
    // Not AbortSignal.timeout: the client never stops listening, and would report answered requests as cancelled.
    const over = new AbortController();
    const late = setTimeout(() => over.abort(`not listed within ${bounds.connectMs} ms`), bounds.connectMs);
    const ask = (cursor: string | undefined) =>
      this.client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, ToolPage, {
        signal: over.signal,
        timeout: neverMs,
      });
    const { tools, left } = await listTools(ask, bounds).finally(() => clearTimeout(late));
    // The list is read every minute; what it leaves out is said once.
    for (const sentence of left) if (!this.left.includes(sentence)) logger.warn(`Tools of ${name} are left out. ${sentence}`);
    this.left = left;
    this.tools = tools;
  }

  /** Schedules one new list, however often it is called, and no more often than `listEveryMs` allows. */
  private listSoon(): void {
    if (this.listAgain || this.failure) return;
    const wait = Math.max(0, this.listedAt + this.parts.bounds.listEveryMs - performance.now());
    this.listAgain = setTimeout(() => {
      this.listAgain = null;
      const again = async (): Promise<void> => {
        await this.listing;
        await this.list();
      };
      again().catch((error: unknown) => this.drop(connectFailure(error)));
    }, wait);
    this.listAgain.unref();
  }

  /** Drops a server that sends too many unsolicited messages. */
  private count(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.unasked.second) this.unasked = { second, messages: 0 };
    this.unasked.messages += 1;
    if (this.unasked.messages > this.parts.bounds.unasked)
      this.drop(new Failure('TOOL_SERVER_UNAVAILABLE', `It sent more than ${this.parts.bounds.unasked} unrequested messages in a second.`));
  }

  private lose(id: string | number, failure: Failure): void {
    const error = { code: -32_000, message: failure.message, data: new LostReply(failure, true) };
    this.transport.onmessage?.({ jsonrpc: '2.0', id, error });
  }

  private noticed(error: unknown): void {
    if (error instanceof Error && error.message.startsWith('Maximum reconnection attempts'))
      return this.drop(new Failure('TOOL_SERVER_UNAVAILABLE', 'Its stream could not be resumed.', { cause: error }));
    const text = error instanceof Error ? error.message : String(error);
    // Callers get the failure of their own call; this helps to find the cause.
    if (!this.failure && !text.startsWith('Received a response for an unknown message'))
      this.parts.logger.debug(`The tool server ${this.parts.name}: ${text.slice(0, 300)}`);
  }
}
