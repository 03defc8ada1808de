import { performance } from 'node:perf_hooks';
import { Failure } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import type { JsonObject, ToolReply, ToolServerStatus } from '@conclave/ports';
import type { ServerBounds } from './bounds.js';
import type { ServerConnection } from './connection.js';
import type { Launch } from './launch-plan.js';
import { LostReply } from './lost-reply.js';
import { neverMade } from './never-made.js';
import type { ListedTool } from './tool-list.js';

/** Milliseconds after which a connection counts as good, however it ends. */
const goodMs = 60_000;
/** Pause in milliseconds after the second failure in a row; every further failure doubles it. */
const firstPauseMs = 250;

/** One configured server: connects when first needed, reconnects after a loss, with growing pauses while it keeps failing. */
export class ToolServer {
  private current: ServerConnection | null = null;
  private opening: ServerConnection | null = null;
  private connecting: Promise<ServerConnection> | null = null;
  private failure: Failure | null = null;
  private failuresInARow = 0;
  private connectedAt = Number.POSITIVE_INFINITY;
  private notBefore = 0;
  private closed = false;
  /** Number of tools that it offered when its connection ended while it had nothing to do; null otherwise. */
  private resting: number | null = null;

  constructor(
    readonly name: string,
    private readonly launch: Launch,
    private readonly bounds: ServerBounds,
    private readonly logger: Logger,
  ) {
    if (launch.kind === 'refused') this.failure = new Failure('TOOL_SERVER_UNAVAILABLE', launch.reason);
  }

  /** Its tools by their own names. Throws TOOL_SERVER_UNAVAILABLE. */
  async tools(): Promise<ReadonlyMap<string, ListedTool>> {
    const connection = await this.connected().catch((error: unknown) => {
      throw error instanceof Failure ? neverMade(error) : error;
    });
    connection.listIfOld();
    return connection.tools;
  }

  /** Throws what `ToolServers.call` throws. `tool` is one of `tools()`. */
  async call(tool: ListedTool, args: JsonObject, signal: AbortSignal, until: number): Promise<ToolReply> {
    // Whether an earlier try may have reached the tool.
    let wasSent = false;
    for (let again = false; ; again = true) {
      const connection = await this.connected().catch((error: unknown) => {
        throw error instanceof Failure && !wasSent ? neverMade(error) : error;
      });
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      if (performance.now() >= until) {
        const late = new Failure('CALL_TIMEOUT', 'The tool did not answer in time.');
        throw wasSent ? late : neverMade(late);
      }
      try {
        const reply = await connection.call(tool, args, signal, until - performance.now());
        this.failuresInARow = 0;
        return reply;
      } catch (error) {
        if (!(error instanceof LostReply)) throw error;
        // If the call was sent, the server may be well and have other calls running. Otherwise the session is lost and a new one is needed.
        if (error.sent) await connection.answers();
        else connection.drop(error.failure);
        wasSent ||= error.sent;
        const harmless = !error.sent || tool.repeatable;
        if (again || !harmless || error.failure.code !== 'TOOL_SERVER_UNAVAILABLE') {
          const failure = this.named(this.lost(error, tool));
          throw wasSent ? failure : neverMade(failure);
        }
      }
    }
  }

  /** Whether it was unavailable when last needed; callers that only list tools should not wait for it. */
  get wasAway(): boolean {
    return this.failure !== null;
  }

  status(): ToolServerStatus {
    if (this.current) return { name: this.name, ok: true, error: null, tools: this.current.tools.size };
    if (this.resting !== null) return { name: this.name, ok: true, error: null, tools: this.resting };
    // The program's last output is for operators, not for callers of its tools.
    const said = this.failure?.options.context?.said;
    const error = this.failure && `${this.failure.message}${typeof said === 'string' && said !== '' ? ` It said: ${said}` : ''}`;
    return { name: this.name, ok: false, error, tools: 0 };
  }

  /** Process id of its program; null while none runs. */
  get pid(): number | null {
    return (this.current ?? this.opening)?.pid ?? null;
  }

  async close(): Promise<void> {
    this.closed = true;
    await (this.current ?? this.opening)?.close();
  }

  private connected(): Promise<ServerConnection> {
    if (this.closed) return Promise.reject(this.unavailable('It is closed.'));
    if (this.current) return Promise.resolve(this.current);
    const { launch } = this;
    if (launch.kind === 'refused') return Promise.reject(this.failure!);
    this.connecting ??= this.connect(launch).finally(() => (this.connecting = null));
    return this.connecting;
  }

  private async connect(launch: Exclude<Launch, { kind: 'refused' }>): Promise<ServerConnection> {
    const wait = this.notBefore - performance.now();
    if (wait > 0) {
      const detail = `${this.failure?.detail ?? ''} It is retried in ${Math.ceil(wait / 1000)} s.`.trim();
      throw new Failure('TOOL_SERVER_UNAVAILABLE', detail, { retryAfterMs: wait });
    }
    const { name, bounds, logger } = this;
    // The protocol code is half a megabyte, and few processes need it before they are ready.
    const { ServerConnection } = await import('./connection.js');
    if (this.closed) throw this.unavailable('It is closed.');
    const connection = new ServerConnection({
      name,
      launch,
      bounds,
      logger,
      onEnd: (failure, idle) => this.ended(failure, idle ? connection : null),
    });
    this.opening = connection;
    try {
      await connection.open();
    } catch (error) {
      throw error instanceof Failure ? this.named(error) : error;
    } finally {
      this.opening = null;
    }
    if (this.closed) throw this.unavailable('It is closed.');
    this.current = connection;
    this.connectedAt = performance.now();
    const isNews = this.resting === null;
    this.failure = this.resting = null;
    logger[isNews ? 'info' : 'debug'](`The tool server ${name} offers ${connection.tools.size} tools.`);
    return connection;
  }

  /** `idle`: the connection, if it had nothing to do. */
  private ended(failure: Failure, idle: ServerConnection | null): void {
    this.current = null;
    if (this.closed) return;
    if (idle) {
      // Many servers and proxies end a stream on which nothing happens. The next request connects again.
      [this.resting, this.failure] = [idle.tools.size, null];
      this.logger.debug(`The tool server ${this.name} has ended its stream while it had nothing to do. ${failure.message}`);
      return;
    }
    this.resting = null;
    this.failuresInARow = performance.now() - this.connectedAt > goodMs ? 1 : this.failuresInARow + 1;
    this.connectedAt = Number.POSITIVE_INFINITY;
    this.failure = this.named(failure);
    const pause = this.failuresInARow === 1 ? 0 : firstPauseMs * 2 ** (this.failuresInARow - 2);
    this.notBefore = performance.now() + Math.min(pause, this.bounds.longestPauseMs);
    this.logger.warn(`The tool server ${this.name} is unavailable. ${failure.message}`);
  }

  private lost({ failure, sent }: LostReply, tool: ListedTool): Failure {
    if (!sent || tool.repeatable || failure.code !== 'TOOL_SERVER_UNAVAILABLE') return failure;
    return new Failure(
      failure.code,
      `${failure.detail ?? ''} The tool may have run; it is not marked as safe to repeat.`.trim(),
      failure.options,
    );
  }

  private unavailable(detail: string): Failure {
    return this.named(new Failure('TOOL_SERVER_UNAVAILABLE', detail));
  }

  private named(failure: Failure): Failure {
    const detail = failure.detail ?? '';
    return detail.includes(this.name) ? failure : new Failure(failure.code, `\`${this.name}\`: ${detail}`, failure.options);
  }
}
