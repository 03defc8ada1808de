// The committee as a LangGraph.js graph: planner, four experts in one superstep, gap check, then back to the planner or on to
// the composer. All sides of the benchmark use the same step functions.
import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph';

const list = () => Annotation({ reducer: (known, more) => [...known, ...more], default: () => [] });

const State = Annotation.Root({
  question: Annotation(),
  round: Annotation(),
  tasks: Annotation(),
  planned: list(),
  facts: list(),
  answers: list(),
  gap: Annotation(),
  answer: Annotation(),
});

export function committeeGraph(steps, checkpointer) {
  return new StateGraph(State)
    .addNode('planner', async ({ round, gap, facts, planned }) => {
      const next = gap ? round + 1 : 0;
      const tasks = await steps.plan(next, gap ?? null, facts, planned);
      return { round: next, tasks, planned: tasks };
    })
    .addNode('expert', async ({ task, round, evidence }) => {
      const { fact, answer } = await steps.expert(task, round, evidence);
      return { facts: [fact], answers: [answer] };
    })
    .addNode('assess', async ({ facts }) => {
      const verdict = await steps.assess(facts);
      return { gap: verdict.verdict === 'complete' ? null : { gap: verdict.gap, nextFocus: verdict.nextFocus } };
    })
    .addNode('compose', async ({ answers }) => ({ answer: await steps.compose(answers) }))
    .addEdge(START, 'planner')
    .addConditionalEdges(
      'planner',
      ({ tasks, round, facts }) => tasks.map((task) => new Send('expert', { task, round, evidence: facts })),
      ['expert'],
    )
    .addEdge('expert', 'assess')
    .addConditionalEdges('assess', ({ gap }) => (gap ? 'planner' : 'compose'), ['planner', 'compose'])
    .addEdge('compose', END)
    .compile({ checkpointer });
}
