import { roleOf, type Role } from '@conclave/test-support/system';
import type { ScriptedReply, ScriptedRequest } from '@conclave/test-support';

/** What a hostile model replies in a role; null where it replies what a good one would. */
export type Hostile = (role: Role, n: number) => ScriptedReply | null;

const planners: readonly Role[] = ['planner', 'waves', 'decomposer', 'reasoner', 'router', 'classifier', 'refiner', 'preparer'];
const judges: readonly Role[] = ['assessor', 'evaluator', 'rater', 'decider', 'critic', 'scorer', 'thinker', 'adviser', 'compressor'];

const json = (value: unknown): ScriptedReply => ({ text: JSON.stringify(value) });
const planning =
  (reply: (n: number) => ScriptedReply): Hostile =>
  (role, n) =>
    planners.includes(role) ? reply(n) : null;
const judging =
  (reply: ScriptedReply): Hostile =>
  (role) =>
    judges.includes(role) ? reply : null;
const always =
  (reply: ScriptedReply): Hostile =>
  () =>
    reply;

/** A task with the members that the planner of each strategy must provide. */
const task = (id: string, more: object = {}): object => ({
  ...{ id, task: `find ${id}`, capability: 'research', search_query: `the founder ${id}`, needs: [] },
  ...{ topic: `part ${id}`, query: `the founder ${id}`, input_description: `find ${id}`, reason: 'It is needed.' },
  ...{ tool: 'world.look', args: { at: id } },
  ...more,
});
const plan = (tasks: readonly unknown[]): object => ({
  tasks,
  topics: tasks,
  steps: tasks,
  tools: tasks,
  status: 'continue',
  action: 'Look.',
});
const planOf = (...tasks: readonly unknown[]): Hostile => planning(() => json(plan(tasks)));

const many = Array.from({ length: 500 }, (_, n) => `t${n}`);
const enormous = `the founder ${'founder '.repeat(60_000)}`;
const outOfRange = {
  ...{ relevance: 900, completeness: -4, usability: 1e308, goal_progress: 'all of it', confidence: 1e9 },
  ...{ quality: 'superb', missing: 'everything', action: 'explode', status: 7, approved: 'maybe', score: -1 },
};
const unsatisfied = {
  ...{ relevance: 2, completeness: 2, usability: 2, goal_progress: 2, summary: 'Not enough.' },
  ...{ quality: 'insufficient', missing: ['the birthplace'], action: 'continue', confidence: 0.2, reason: 'There is more to find.' },
};

/** Each row of the trials: what the model server does in every call of a run. */
export const faults: Readonly<Record<string, Hostile>> = {
  'a planner that says no': planning(() => ({ text: 'I would rather not.' })),
  'a plan of wrong types': planning(() =>
    json({
      tasks: 'none',
      topics: 7,
      steps: { a: 1 },
      tools: true,
      status: 3,
      action: [],
      class: {},
      collections: 'x',
      query: [[]],
      input: 4,
    }),
  ),
  'tasks that are no objects': planOf(null, 7, 'find the founder', [], {
    id: {},
    task: [],
    capability: 9,
    tool: {},
    topic: [],
    needs: 'a',
  }),
  'a circle of needs': planOf(task('a', { needs: ['b'] }), task('b', { needs: ['a'] })),
  'a task that needs itself': planOf(task('a', { needs: ['a'] })),
  'a need that is not there': planOf(task('a', { needs: ['nowhere'] })),
  '500 tasks': planning(() => json(plan(many.map((id) => task(id))))),
  '500 tasks in each plan, all new': planning((n) => json(plan(many.map((id) => task(`${id}-${n}`))))),
  '500 tasks in a chain': planning(() => json(plan(many.map((id, n) => task(id, { needs: n > 0 ? [many[n - 1]] : [] }))))),
  'one id for all tasks': planOf(
    task('a'),
    task('a', { task: 'find another', query: 'the founder of another' }),
    task('a', { args: { at: 'third' } }),
  ),
  'names of the language': planOf(
    task('__proto__', { capability: 'constructor', tool: 'toString' }),
    task('constructor', { needs: ['__proto__'] }),
  ),
  'unknown capabilities and tools': planOf(
    task('a', { capability: 'rocket.launch', tool: 'rocket.launch' }),
    task('b', { capability: 'expert.wizard', tool: 'world.destroy' }),
  ),
  'enormous texts': planOf(task(enormous, { task: enormous, query: enormous, search_query: enormous, topic: enormous })),
  'an enormous reply that is not JSON': planning(() => ({ text: `{"tasks":[${'['.repeat(200_000)}` })),
  'the same plan for ever, and judges that want more': (role, n) =>
    planners.includes(role)
      ? null
      : role === 'assessor'
        ? { text: 'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: the birthplace\nNEXT_FOCUS: the birthplace' }
        : judges.includes(role)
          ? json({ ...unsatisfied, n })
          : null,
  'a new plan for ever, and judges that want more': (role, n) =>
    role === 'assessor'
      ? { text: `COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: the birthplace ${n}\nNEXT_FOCUS: the birthplace ${n}` }
      : judges.includes(role)
        ? json({ ...unsatisfied, action: 'adjust' })
        : role === 'refiner'
          ? json({ query: `the founder ${n}` })
          : role === 'preparer'
            ? json({ input: `the founder ${n}` })
            : planners.includes(role)
              ? json(plan([task(`a${n}`)]))
              : null,
  'judges that talk': judging({ text: 'Well, well. It depends.' }),
  'verdicts out of range': judging(json(outOfRange)),
  'verdicts of wrong types': judging({ text: '[null, {"quality": null, "scores": [1,2]}]' }),
  'nothing but talk': always({ text: 'Lorem ipsum dolor sit amet.' }),
  'empty replies': always({ text: '' }),
  'streams of nothing': always({ chunks: [] }),
  'replies cut by their length': always({ text: '{"tasks": [{"id": "a", "tas', finish: 'length' }),
  'streams that end in the middle': always({ truncateAfter: [{ text: '{"tasks": [' }], cleanly: true }),
  'connections that break': always({ truncateAfter: [{ text: 'The' }] }),
  'refusals by the server': always({ status: 400, body: { error: { message: 'no', type: 'invalid_request_error' } } }),
};

/** What a good model replies in each role. */
const good: Partial<Record<Role, ScriptedReply>> = {
  planner: json({
    tasks: [
      { id: 'r1', task: 'find the founder', capability: 'research', search_query: 'the founder' },
      { id: 'x1', task: 'say who it is', capability: 'expert.general', needs: ['r1'] },
    ],
  }),
  waves: json({ status: 'continue', action: 'Look.', tools: [{ id: 'w1', tool: 'world.look', args: { at: 'home' } }], reasoning: 'So.' }),
  decomposer: json({ topics: [{ topic: 'the founder', query: 'the founder', collections: [] }], synthesis: 'merge' }),
  topicReader: json({ facts: [{ fact: 'The founder is Ada Quill.', source: 1 }] }),
  reader: json({ facts: [{ fact: 'The founder is Ada Quill.', source: 1 }] }),
  router: json({ class: 'factual', collections: ['research'] }),
  classifier: json({ class: 'exploratory' }),
  evaluator: json({ quality: 'sufficient', missing: [] }),
  refiner: json({ query: 'the founder of the company' }),
  reasoner: json({ steps: [{ capability: 'research', input_description: 'find the founder', reason: 'It is asked.' }] }),
  preparer: json({ input: 'the founder' }),
  rater: json({ relevance: 4, completeness: 4, usability: 4, goal_progress: 4, summary: 'Good.' }),
  decider: json({ action: 'done', confidence: 0.9, reason: 'It is done.' }),
  compressor: json({ working_memory: 'Ada Quill.' }),
  assessor: { text: 'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none' },
  expert: { text: 'Ada Quill.\nFINDING: Ada Quill founded it.\nCONFIDENCE: 0.8\nGAPS: none\nREFER: none' },
};

/** Reply of a model with this fault to a request; `n` counts the calls of its run. */
export function hostileReply(fault: Hostile | null, request: ScriptedRequest, n: number): ScriptedReply {
  const role = roleOf(request);
  return fault?.(role, n) ?? good[role] ?? { text: 'Ada Quill founded it.' };
}
