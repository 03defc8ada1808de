import type { AnyEvent, Event } from '@conclave/contracts';
import type { Runs } from '@conclave/ports';

/** Maximum number of runs whose template is remembered. */
const most = 1_000;

/**
 * The templates of runs, which name the workflow in the spans of their calls. A process that has not seen the request of a run reads it
 * once from the state store, and only for recorded traces.
 */
export class WorkflowNames {
  private readonly known = new Map<string, string | null | Promise<string | null>>();

  constructor(private readonly runs: Pick<Runs, 'header'>) {}

  /** Immediate if the template is known. Null without a run, and if the template cannot be read: tracing must not fail the work. */
  of(event: Event): string | null | Promise<string | null> {
    const said = saidBy(event as AnyEvent);
    if (said !== null) this.remember(event.runId, said);
    const known = said ?? this.known.get(event.runId);
    if (known !== undefined) return known;
    const read = this.runs.header(event.runId).then(
      (header) => {
        const name = header?.data.template.id ?? null;
        this.remember(event.runId, name);
        return name;
      },
      () => {
        this.known.delete(event.runId);
        return null;
      },
    );
    this.remember(event.runId, read);
    return read;
  }

  private remember(runId: string, name: string | null | Promise<string | null>): void {
    this.known.delete(runId);
    this.known.set(runId, name);
    if (this.known.size > most) this.known.delete(this.known.keys().next().value!);
  }
}

function saidBy(event: AnyEvent): string | null {
  return event.type === 'PlanRequested' || event.type === 'RunCompleted' ? event.data.template.id : null;
}
