import { describe, expect, it } from '@jest/globals';
import type { Event, PlannedTask, Template } from '@conclave/contracts';
import fc from 'fast-check';
import { drawnLimits, endFaults, play, type Draw, type Drawn } from '../testing/drawn-run.js';
import { expert, oneCall, research, Scenario } from '../testing/scenario.js';

/** A template with a random pipeline: tiers, members that always answer, refinement, thinking, critic, both gap checks. */
function drawnTemplate(draw: Draw): Partial<Template> {
  const t2 = draw(2) === 0 ? {} : { t2: ['big@fake'] };
  const always = draw(4) === 0 ? { always: ['also@fake'] } : {};
  const general = { t1: ['m@fake'], prompt: '', ...t2, ...always };
  return {
    gap_check: draw(2) === 0 ? 'evidence' : 'answer',
    max_agentic_rounds: draw(4),
    refine_rounds: draw(3),
    thinking: draw(2) === 0,
    experts: { general, legal_advisor: general },
    ...(draw(2) === 0 ? { critic: { categories: ['legal_advisor'] } } : {}),
  };
}

function plans(run: Scenario, epoch: number, draw: Draw): (() => unknown)[] {
  const legal = (id: string, task: string): PlannedTask => ({ ...expert(id, task), capability: 'expert.legal_advisor' });
  const more = {
    complexity: (['moderate', 'moderate', 'complex', 'trivial'] as const)[draw(4)]!,
    safety: draw(5) === 0 ? ['law' as const] : [],
  };
  const planned = (...tasks: PlannedTask[]) => [() => run.planned(epoch, tasks, undefined, more)];
  if (more.complexity === 'trivial') return planned(expert('x1', `task ${epoch}`));
  switch (draw(6)) {
    case 0:
      return [];
    case 1:
      return [() => run.planFailed(epoch)];
    case 2:
      return planned(research('r1', `query ${epoch}`), research('r2', `other ${epoch} words`), expert('x1', `task ${epoch}`, ['r1', 'r2']));
    case 3:
      return planned(legal('x1', `the law ${epoch}`), expert('x2', 'the same every time'));
    default:
      return planned(research('r1', `query ${epoch}`), expert('x1', `task ${epoch}`, ['r1']));
  }
}

function replies(run: Scenario, event: Event, draw: Draw): (() => unknown)[] {
  if (event.type === 'GapDetected') return plans(run, (event.data as { epoch: number }).epoch + 1, draw);
  if (event.type !== 'TaskDispatched') return [];
  const { input } = event.data as { input: { kind: string; answers?: { taskId: string }[]; pairs?: { taskId: string }[] } };
  const [, epoch, local] = event.id.split('/') as [string, string, string];
  const result = (data: Parameters<Scenario['result']>[1]) => () => run.result(local, data, Number(epoch));
  const kind = draw(6);
  if (kind === 0) return [];
  if (kind === 1) return [result({ status: 'error', failure: { code: 'PROVIDER_FAILED', message: 'broken', retriable: true } })];
  const long = `the answer ${'word '.repeat(draw(2) * 40)}`;
  const facts = [
    {
      text: `fact ${event.id}`,
      source: { kind: 'corpus' as const, title: 'doc', url: null },
      taskId: event.id,
      epoch: Number(epoch),
      confidence: null,
    },
  ];
  const isOpen = kind < 4;
  switch (input.kind) {
    case 'gap':
      return [
        result({
          output: {
            kind: 'assessment',
            assessment: {
              verdict: isOpen ? 'needs_more_info' : 'complete',
              gap: isOpen ? 'more' : '',
              nextFocus: 'more',
              parsed: draw(5) > 0,
            },
          },
        }),
      ];
    case 'synthesis':
      return [result({ output: { kind: 'synthesis', text: long, insight: null, insightRejected: null, cutShort: false } })];
    case 'research':
      return [result({ usage: { ...oneCall, calls: 0 }, output: { kind: 'evidence', facts: kind === 2 ? [] : facts } })];
    case 'hints':
      return [
        result({
          output: { kind: 'hints', hints: Object.fromEntries(input.answers!.slice(draw(2)).map(({ taskId }) => [taskId, 'Be exact.'])) },
        }),
      ];
    case 'score':
      return [
        result({ output: { kind: 'scores', scores: input.pairs!.map(({ taskId }) => ({ taskId, before: 0.4, after: draw(10) / 10 })) } }),
      ];
    case 'thinking':
      return [result({ output: { kind: 'thinking', text: 'CONCLUSION' } })];
    case 'critic':
      return [
        result({
          output: {
            kind: 'critique',
            verdict: (['confirmed', 'corrected', 'unparsable'] as const)[draw(3)]!,
            reasons: [],
            text: 'Corrected.',
          },
        }),
      ];
    default:
      return [result({ output: { kind: 'answer', text: long, finding: `finding ${event.id}` }, confidence: draw(10) / 10 })];
  }
}

const committee: Drawn = {
  begin: (draw) => ({ run: new Scenario(drawnTemplate(draw)), limits: drawnLimits(draw) }),
  plans,
  replies,
};

describe('the engine under any order of events', () => {
  it('ends every run with exactly one terminal event, no timer, nothing open; its facts fold to its state; it is due exactly when the clock alone changes it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 5, maxLength: 120 }), (draws) => {
        expect(endFaults(play(draws, committee))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });
});
