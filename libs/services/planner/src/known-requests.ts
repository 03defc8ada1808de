import type { PlanRequested } from '@conclave/contracts';

type Request = PlanRequested['data'];

const mostKept = 128;
/** Most characters of a conversation; a longer one is read from the store again. */
const longest = 32_000;

/** Requests that this process has planned for, so that a gap of the same run need not read the store. They never change. */
export class KnownRequests {
  private readonly known = new Map<string, Request>();

  get(runId: string): Request | undefined {
    return this.known.get(runId);
  }

  /** Keeps a request, unless it needs much memory, and drops the oldest if there are too many. */
  add(runId: string, request: Request): void {
    this.known.delete(runId);
    if ((request.attachments ?? []).length > 0 || charactersOf(request) > longest) return;
    this.known.set(runId, request);
    if (this.known.size > mostKept) this.known.delete(this.known.keys().next().value!);
  }
}

const charactersOf = ({ goal, system, conversation }: Request): number =>
  goal.length + (system?.length ?? 0) + conversation.reduce((sum, turn) => sum + turn.content.length, 0);
