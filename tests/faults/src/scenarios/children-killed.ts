import { promptMarks } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { plainTemplate, readRun } from '@conclave/test-support/system';
import { rightAnswer } from '../questions.js';
import { childQuestionMark, childQuestions } from '../world/committee.js';
import type { World } from '../world/world.js';
import type { Scenario } from './scenario.js';

const treeTemplate = 'conclave-tree';
/** Services with the role whose call of a child run is in flight when they die. */
const members = [
  ['planner', 'planner'],
  ['experts', 'expert'],
  ['merger', 'composer'],
] as const;

/** Whether the prompt for the answer of the parent contained the answer of a child run. */
const isTold = ({ system }: World, question: string, answer: string): boolean =>
  system.models.calls.some(({ step, messages }) => {
    const prompt = messages.map(({ content }) => String(content)).join('\n');
    return (
      step === 'load composer' && [`${promptMarks.question} ${question}`, promptMarks.topics, answer].every((text) => prompt.includes(text))
    );
  });

/** Kills the process while the call of a child run hangs. */
async function killOnce(world: World, [service, role]: (typeof members)[number]): Promise<void> {
  const { system } = world;
  const name = `children-${service}`;
  const isOfChild = (question: string): boolean => question.includes(name) && question.includes(childQuestionMark);
  let calls = 0;
  world.behave({
    instead: (asked, question) => {
      if (asked !== role || !isOfChild(question)) return null;
      calls += 1;
      return { hang: true };
    },
  });
  const runs = world.short ? 1 : 3;
  // A parent whose child is lost would be awaited for this long.
  const load = world.load.run({ runs, atOnce: runs, name, model: treeTemplate, patienceMs: world.controlled ? 8_000 : 90_000 });
  await until('every child run to be at its call', () => calls >= 2 * runs, { timeoutMs: 60_000 });
  const process = system.process(service);
  const at = world.fault(`SIGKILL of ${service}`);
  await process.kill('SIGKILL');
  world.behave({});
  await process.ready();
  const asked = await load;
  const parents = asked.flatMap(({ runId }) => (runId === null ? [] : [runId]));
  let whole = 0;
  for (const { runId, question } of asked) {
    if (runId === null) continue;
    const run = await readRun(system.url(), runId);
    const children = run.rounds.flatMap(({ tasks }) => tasks).filter(({ capability, status }) => capability === 'run' && status === 'ok');
    const told = childQuestions(question).filter((child) => isTold(world, question, rightAnswer(child)));
    if (run.outcome === 'completed' && children.length === 2 && told.length === 2) whole += 1;
    else
      world.breaks(
        runId,
        `It ${run.outcome === null ? 'has not ended' : `ended ${run.outcome}`}, ${children.length} of its 2 child runs succeeded, and it received ${told.length} of their answers.`,
      );
  }
  const last = Math.max(at, ...parents.map((runId) => world.load.ended.get(runId) ?? Infinity));
  world.row({
    name: service,
    outcome: `${whole} of ${parents.length} parents got the answers of both child runs`,
    recoveryMs: Number.isFinite(last) ? last - at : null,
    runs: parents,
  });
  if (parents.length < runs) throw new Error(`${service}: ${parents.length} of ${runs} runs were accepted.`);
}

/** Any process may die while a run waits for its child runs. */
export const childrenKilled: Scenario = {
  name: 'children-killed',
  promise:
    'If a process dies while a run waits for its child runs, the run gets the answer of each child, and all of them end exactly once.',
  fault:
    'kill -9 of the planner, the experts and the merger, one at a time, while each child run is in the middle of a model call; in embedded mode, of the single process',
  modes: ['embedded', 'distributed'],
  controls: [{ without: 'offset-tracker', check: 'own-promise' }],
  bounds: { accepted: 3, terminalMs: 60_000 },
  limitS: 300,
  ci: ['embedded'],
  system: {
    configuration: {
      templates: { [treeTemplate]: { ...plainTemplate, strategy: 'decompose', options: { child: 'conclave-fast' } } },
    },
  },
  async run(world) {
    await world.warmUp();
    // Without a protection, one lost child is enough.
    for (const member of world.controlled ? members.slice(0, 1) : members) await killOnce(world, member);
  },
};
