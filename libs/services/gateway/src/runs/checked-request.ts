import { createHash } from 'node:crypto';
import type { Caller, ClientToolsAsked, PlanRequested, Template } from '@conclave/contracts';
import { type TraceContext, traceContextOf } from '@conclave/platform';
import type { Request } from 'express';
import type { ClientQuestion } from '../chat/chat-request.js';
import type { WayBack } from './commands.js';

/** How a request is recognised as a repeat of an earlier one. */
export interface RepeatKey {
  /** SHA-256 over endpoint, caller, body and the Idempotency-Key, if any. */
  readonly key: string;
  readonly idempotent: boolean;
  /** Whether this request itself says that it may be a repeat. */
  readonly mayAttach: boolean;
  /** How its client can come back if it disconnects before the answer is complete. */
  readonly wayBack: WayBack;
}

/** The part that every request for a run contains. */
export interface AskedRun {
  /** The owner of the key, which may have limits; absent: nothing limits the run. */
  readonly request?: Request;
  readonly template: Template;
  readonly caller: Caller;
  /** Endpoint of the request; a chat run is cancelled when its last client leaves. */
  readonly origin: 'chat' | 'runs';
  readonly repeat: RepeatKey;
  /** Whether the run's events hold prompts and raw replies. */
  readonly detail?: 'redacted' | 'full';
  /** The client's `traceparent`, if it sent one. */
  readonly trace?: TraceContext | undefined;
}

/** Decides, for the run with this id, whether a tool of the client is needed. Throws OVERLOADED, SHUTTING_DOWN, CALL_CANCELLED. */
export type AskTools = (runId: string) => Promise<ClientToolsAsked>;

/** A question that passed every check. */
export interface CheckedRequest extends AskedRun {
  readonly question: ClientQuestion;
  /** Called once the run has an id, unless the request attaches to an earlier run. */
  readonly askTools?: AskTools | undefined;
}

/** A run that is forked or rerun, and what the new run with this id begins with. */
export interface CheckedFork extends AskedRun {
  /** The run that is forked or rerun: deleting it deletes the new one too. */
  readonly of: string;
  readonly begins: (runId: string) => Pick<PlanRequested['data'], 'fork'> & Omit<PlanRequested['data'], MadeHere>;
}

/** Members of a request that its acceptance adds. */
type MadeHere = 'requestedAt' | 'caller' | 'origin' | 'template' | 'retryKey' | 'detail';
export type CheckedRun = CheckedRequest | CheckedFork;

/** Equal requests without these headers are separate runs: many users behind one front-end key ask "Hello". */
export function repeatOf(
  request: Request,
  caller: Caller,
  endpoint: CheckedRequest['origin'] | `forks/${string}` | `reruns/${string}`,
  raw: Buffer,
): RepeatKey {
  const idempotencyKey = request.headers['idempotency-key'];
  const count = Number(request.headers['x-stainless-retry-count'] ?? 0);
  const idempotent = typeof idempotencyKey === 'string' && idempotencyKey !== '';
  const hash = createHash('sha256');
  for (const part of [endpoint, caller.tenant, caller.actor, idempotent ? idempotencyKey : '']) hash.update(`${part.length}:${part}`);
  const mayAttach = idempotent || count >= 1;
  const wayBack = mayAttach ? 'certain' : request.headers['x-stainless-retry-count'] === undefined ? 'none' : 'possible';
  return { key: hash.update(raw).digest('hex'), idempotent, mayAttach, wayBack };
}

/** Collects what acceptance needs from a checked request that forks a run or asks its question again. */
export const checkedFork = (
  request: Request,
  of: string,
  fork: Pick<CheckedFork, 'of' | 'template' | 'caller' | 'begins'>,
  { raw, detail }: { readonly raw: Buffer; readonly detail: 'redacted' | 'full' },
  how: 'forks' | 'reruns' = 'forks',
): CheckedFork => ({
  ...fork,
  request,
  ...{ origin: 'runs', detail, repeat: repeatOf(request, fork.caller, `${how}/${of}`, raw), trace: traceOf(request) },
});

const traceOf = ({ headers: { traceparent } }: Request): TraceContext | undefined =>
  traceContextOf(typeof traceparent === 'string' ? traceparent : undefined);

/** Collects what acceptance needs from a checked request. */
export const checkedRequest = (
  request: Request,
  question: ClientQuestion,
  template: Template,
  caller: Caller,
  origin: CheckedRequest['origin'],
  { raw, detail, askTools }: { readonly raw: Buffer; readonly detail: 'redacted' | 'full'; readonly askTools?: AskTools | undefined },
): CheckedRequest => ({
  ...{ request, question, template, caller, origin, detail, askTools },
  repeat: repeatOf(request, caller, origin, raw),
  trace: traceOf(request),
});
