import type { EngineEntry, Event, RuleId, ThoughtCode } from '@conclave/contracts';
import { timerId } from '@conclave/contracts';
import type { BornRun, RunState } from './state.js';

export interface ArmedTimer {
  readonly name: string;
  readonly arm: number;
  readonly dueAt: number;
  readonly task?: { readonly id: string; readonly taskClass: string };
}

/** What one step of the engine gives: the next state and everything that leaves it. */
export interface Decision {
  readonly next: RunState;
  readonly outputs: readonly Event[];
  readonly entries: readonly EngineEntry[];
  readonly arm: readonly ArmedTimer[];
  readonly disarm: readonly string[];
  readonly cancels: readonly string[];
  /** Row of the decision table that was taken in this step, with its sentence. */
  readonly rule: { readonly id: RuleId; readonly sentence: string } | null;
}

/**
 * Collects what a step gives while it changes its own copy of the state. Lives inside one call of `step`,
 * so the step stays a function of state, event and time.
 */
export class Moves {
  readonly outputs: Event[] = [];
  readonly entries: EngineEntry[] = [];
  readonly cancels: string[] = [];
  rule: Decision['rule'] = null;
  private readonly armed = new Map<string, ArmedTimer>();
  private readonly disarmed = new Set<string>();

  constructor(
    readonly run: BornRun,
    readonly now: number,
  ) {}

  /** A line of the thought stream. `detail` (a prompt, raw content) is kept only where the run asked for full detail. */
  think(code: ThoughtCode, text: string, taskId: string | null = null, detail: string | null = null): void {
    this.entries.push({ kind: 'thought', code, taskId, text, detail: this.run.detail === 'full' ? detail : null });
  }

  arm(name: string, dueAt: number, task?: ArmedTimer['task']): void {
    const arm = (this.run.timers[name]?.arm ?? 0) + 1;
    this.run.timers[name] = { arm, dueAt };
    this.disarmed.delete(name);
    this.armed.set(name, { name, arm, dueAt, ...(task ? { task } : {}) });
  }

  disarm(name: string): void {
    const timer = this.run.timers[name];
    if (!timer || timer.dueAt === null) return;
    timer.dueAt = null;
    this.armed.delete(name);
    this.disarmed.add(name);
  }

  disarmAll(): void {
    for (const name of Object.keys(this.run.timers)) this.disarm(name);
  }

  decision(): Decision {
    return {
      next: this.run,
      outputs: this.outputs,
      entries: this.entries,
      arm: [...this.armed.values()],
      disarm: [...this.disarmed],
      cancels: this.cancels,
      rule: this.rule,
    };
  }
}

export const timerEventId = (runId: string, timer: { name: string; arm: number }): string => timerId(runId, timer.name, timer.arm);
