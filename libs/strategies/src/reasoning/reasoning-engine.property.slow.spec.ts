import { describe, expect, it } from '@jest/globals';
import type { CommandIssued, Event, TaskDispatched } from '@conclave/contracts';
import fc from 'fast-check';
import { drawnLimits, endFaults, play, type Draw, type Drawn } from '../testing/drawn-run.js';
import { oneCall, Scenario } from '../testing/scenario.js';

const tools = [{ name: 'stock.count', description: 'Counts', signature: 'item: string', repeatable: true, readOnly: true }];
const allowed = ['research', 'math', 'stock.count'];
const commands: readonly CommandIssued['data']['command'][] = [
  { name: 'steer', text: 'left' },
  { name: 'add_context', text: 'it is old' },
  { name: 'override_step', skill: 'research', input: 'mine' },
  { name: 'override_step', skill: 'rocket', input: 'mine' },
  { name: 'answer', text: 'yes' },
];

function plans(run: Scenario, epoch: number, draw: Draw): (() => unknown)[] {
  if (draw(25) === 0) return draw(2) === 0 ? [] : [() => run.planFailed(epoch)];
  const steps = Array.from({ length: draw(10) === 0 ? draw(12) : 1 + draw(4) }, (_, n) => ({
    capability: draw(25) === 0 ? 'rocket' : allowed[draw(3)]!,
    input_description: `step ${epoch}.${n}`,
    reason: '',
  }));
  const impossible = draw(20) === 0 ? 'no way' : null;
  const content = { steps: impossible === null ? steps : [], impossible, working_memory: draw(2) === 0 ? null : 'm'.repeat(draw(900)) };
  return [() => run.planned(epoch, [], oneCall, draw(20) === 0 ? {} : { content })];
}

/** Values of a phase's reply. */
function phaseOf(capability: string, draw: Draw): Record<string, unknown> {
  const working_memory = draw(2) === 0 ? null : 'w'.repeat(draw(5_000) % 4_000);
  switch (capability) {
    case 'judge.prepare':
      return {
        query: `words ${draw(6)} ${'abcdef'[draw(6)]}`,
        tool: draw(3) === 0 ? 'stock.count' : null,
        args: draw(3) === 0 ? { item: draw(3) } : {},
        working_memory,
      };
    case 'judge.evaluate': {
      const score = (): number => 1 + draw(5);
      return {
        rubric: { relevance: score(), completeness: score(), usability: score(), goal_progress: score() },
        summary: 's',
        working_memory,
      };
    }
    case 'judge.compress':
      return { working_memory: 'short' };
    default: {
      const action = ['continue', 'adjust', 'ask_user', 'done', 'stuck', 'continue', 'adjust'][draw(7)]!;
      return {
        action,
        confidence: draw(11) / 10,
        reason: 'r',
        question: 'Which?',
        final_answer: draw(2) === 0 ? 'It is so.' : null,
        working_memory,
      };
    }
  }
}

function replies(run: Scenario, event: Event, draw: Draw): (() => unknown)[] {
  const said = draw(12) === 0 ? [() => run.command(1_000 + run.decisions.length, commands[draw(commands.length)]!)] : [];
  if (event.type === 'GapDetected') return [...said, ...plans(run, (event.data as { epoch: number }).epoch + 1, draw)];
  if (event.type !== 'TaskDispatched') return said;
  const { input, capability } = event.data as TaskDispatched['data'];
  const [, epoch, local] = event.id.split('/') as [string, string, string];
  const result = (data: Parameters<Scenario['result']>[1]) => [...said, () => run.result(local, data, Number(epoch))];
  const kind = draw(24);
  if (kind === 0) return said;
  if (kind === 1) return result({ status: 'error', failure: { code: 'TOOL_FAILED', message: 'broken', retriable: true } });
  if (kind === 2) return result({ status: 'timeout', failure: { code: 'CALL_TIMEOUT', message: 'late', retriable: true } });
  if (input.kind === 'synthesis')
    return result({ output: { kind: 'synthesis', text: 'So it is.', insight: null, insightRejected: null, cutShort: false } });
  if (capability.startsWith('judge.')) return result({ output: { kind: 'values', values: phaseOf(capability, draw) } });
  const source = { kind: 'corpus' as const, title: 'stock', url: null };
  const fact = { text: `fact ${draw(5)} ${event.id}`, source, taskId: event.id, epoch: Number(epoch), confidence: null };
  return result({ usage: { ...oneCall, calls: 0 }, output: { kind: 'evidence', facts: kind === 3 ? [] : [fact] } });
}

const drawnReasoning: Drawn = {
  begin: (draw) => {
    const options = {
      max_iterations: 1 + draw(15),
      stuck_threshold: 1 + draw(5),
      ask_user: (['runs', 'always', 'never'] as const)[draw(3)],
      compress_every: 1 + draw(4),
    };
    const run = new Scenario({ strategy: 'reasoning', tools, capabilities: ['research', 'math'], options: draw(2) === 0 ? options : {} });
    return { run, limits: { wall_time_s: 4_620, ...drawnLimits(draw) } };
  },
  plans: (run, epoch, draw) => (epoch === 0 ? [] : plans(run, epoch, draw)),
  replies,
};

/** Violations of the rules of reasoning by a run. */
function reasoningFaults(run: Scenario): readonly string[] {
  const inputs = run.outputs.filter((event): event is TaskDispatched => event.type === 'TaskDispatched');
  const steps = inputs.filter(({ data }) => !data.capability.startsWith('judge.') && data.capability !== 'recall');
  const most = (run.state!.request.template.options as { max_iterations?: number }).max_iterations ?? 15;
  const memories = run.facts.flatMap((fact) => (fact.kind === 'MemoryReplaced' || fact.kind === 'MemoryCompressed' ? [fact.text] : []));
  return [
    ...steps.filter(({ data }) => data.capability === 'rocket').map(({ id }) => `${id} runs what is not allowed`),
    ...(run.state!.rounds > most ? [`${run.state!.rounds} rounds of ${most}`] : []),
    ...memories.filter((text) => text.length > 4_000).map(({ length }) => `a memory of ${length} characters`),
    ...run.facts.flatMap((fact) =>
      fact.kind === 'StepEvaluated' && fact.quality !== (fact.mean >= 3.5 ? 'good' : fact.mean >= 2 ? 'partial' : 'failed')
        ? [`${fact.mean} is ${fact.quality}`]
        : [],
    ),
  ];
}

describe('reasoning under any order of events', () => {
  it('ends exactly once with nothing open, within its rounds, and runs nothing that is not allowed', () => {
    const seen = { runs: 0, answered: 0, scored: 0, adjusted: 0, overridden: 0, rules: new Set<string>() };
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 5, maxLength: 120 }), (draws) => {
        const run = play(draws, drawnReasoning);
        expect([...endFaults(run), ...reasoningFaults(run)]).toEqual([]);
        seen.runs += 1;
        if (run.completed()!['answer'] !== null) seen.answered += 1;
        for (const fact of run.facts) {
          if (fact.kind === 'StepEvaluated') seen.scored += 1;
          if (fact.kind === 'PlanAwaited' && fact.replan) seen.adjusted += 1;
          if (fact.kind === 'CommandApplied' && fact.name === 'override_step') seen.overridden += 1;
          if (fact.kind === 'Decided') seen.rules.add(fact.rule);
        }
      }),
      { numRuns: 300 },
    );
    // Runs in which nothing happens would keep every rule. `npm run fuzz` may have time for too few to judge.
    if (seen.runs < 300) return;
    const most = { answered: 30, scored: 40, adjusted: 15, overridden: 3 };
    for (const [name, least] of Object.entries(most)) expect([name, seen[name as keyof typeof most] >= least]).toEqual([name, true]);
    expect([...seen.rules]).toEqual(expect.arrayContaining(['D2', 'D3', 'D4', 'D5', 'D9', 'D11']));
  });
});
