// The committee of the shipped template as a LangGraph.js graph: like `graph.mjs`, with a second tier for unsure experts, and, after
// the last gap check, hints, another try, scores and the thinking step. Each is a node, so that its outcome is stored.
import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph';

const list = () => Annotation({ reducer: (known, more) => [...known, ...more], default: () => [] });

const State = Annotation.Root({
  question: Annotation(),
  round: Annotation(),
  tasks: Annotation(),
  planned: list(),
  facts: list(),
  first: list(),
  heard: list(),
  again: list(),
  gap: Annotation(),
  hints: Annotation(),
  answers: Annotation(),
  thinking: Annotation(),
  answer: Annotation(),
});

export function shippedGraph(steps, checkpointer) {
  const ofRound = (heard, round) => heard.filter(({ answer }) => answer.epoch === round);
  const unsureOf = ({ heard, round }) => ofRound(heard, round).filter(steps.isUnsure);
  return new StateGraph(State)
    .addNode('planner', async ({ round, gap, facts, planned }) => {
      const next = gap ? round + 1 : 0;
      const tasks = await steps.plan(next, gap ?? null, facts, planned);
      return { round: next, tasks, planned: tasks };
    })
    .addNode('expert', async ({ task, round, evidence }) => ({ first: [await steps.expert(task, round, evidence)] }))
    .addNode('secondTier', async ({ one, round, evidence }) => {
      const heard = steps.isUnsure(one) ? await steps.expert(one.task, round, evidence, { tier: 't2' }) : one;
      return { facts: [heard.fact], heard: [heard] };
    })
    .addNode('assess', async ({ facts }) => {
      const verdict = await steps.assess(facts);
      return { gap: verdict.verdict === 'complete' ? null : { gap: verdict.gap, nextFocus: verdict.nextFocus } };
    })
    .addNode('advise', async (state) => ({ hints: await steps.advise(unsureOf(state)) }))
    .addNode('tryAgain', async ({ before, round, evidence, hint }) => {
      const how = { tier: 't2', previous: before.answer.text, hints: hint };
      return { again: [{ before, after: await steps.expert(before.task, round, evidence, how) }] };
    })
    .addNode('score', async ({ heard, again, round }) => {
      const scores = await steps.score(again);
      const isBetter = (id) => scores.some(({ taskId, before, after }) => taskId === id && after > before);
      const betterOf = ({ task, answer }) =>
        answer.epoch === round && isBetter(task.id) ? again.find(({ before }) => before.task.id === task.id)?.after : undefined;
      return { answers: heard.map((one) => (betterOf(one) ?? one).answer) };
    })
    .addNode('think', async ({ answers }) => ({ thinking: await steps.think(answers) }))
    .addNode('compose', async ({ answers, thinking }) => ({ answer: await steps.compose(answers, thinking) }))
    .addEdge(START, 'planner')
    .addConditionalEdges(
      'planner',
      ({ tasks, round, facts }) => tasks.map((task) => new Send('expert', { task, round, evidence: facts })),
      ['expert'],
    )
    .addConditionalEdges(
      'expert',
      ({ first, round, facts }) => ofRound(first, round).map((one) => new Send('secondTier', { one, round, evidence: facts })),
      ['secondTier'],
    )
    .addEdge('secondTier', 'assess')
    .addConditionalEdges('assess', ({ gap }) => (gap ? 'planner' : 'advise'), ['planner', 'advise'])
    .addConditionalEdges(
      'advise',
      ({ hints, round, facts, ...state }) =>
        unsureOf({ round, ...state }).map(
          (before) => new Send('tryAgain', { before, round, evidence: facts, hint: hints[before.task.id] }),
        ),
      ['tryAgain'],
    )
    .addEdge('tryAgain', 'score')
    .addEdge('score', 'think')
    .addEdge('think', 'compose')
    .addEdge('compose', END)
    .compile({ checkpointer });
}
