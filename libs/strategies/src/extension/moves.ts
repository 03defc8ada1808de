import {
  Complexity,
  deepestChild,
  depthOf,
  Draft,
  FailureNote,
  noUsage,
  PlanCreated,
  PlannedTask,
  Reading,
  RequestedTask,
  StageCode,
  taskId,
  ThoughtCode,
  type RunFact,
} from '@conclave/contracts';
import { runCapability, type Move, type View } from '@conclave/loop';
import * as z from 'zod';
import { faultsOf } from '../asks/json-form.js';
import { requestedTasks } from '../committee/experts.js';
import { capabilityOf } from '../capabilities/declared.js';
import { initialOwn } from '../committee/own.js';
import { capabilitiesOf, hasCycle } from '../plan-rules.js';
import { jsonFault, kindOf } from './json-values.js';

const taskShape = {
  ...PlannedTask.shape,
  query: z.string().nullish(),
  needs: z.array(z.string()).optional(),
  metadata_filters: PlannedTask.shape.metadata_filters.optional(),
};
type TaskGiven = z.output<z.ZodObject<typeof taskShape>>;
const whole = ({ query, needs, metadata_filters, ...task }: TaskGiven): PlannedTask => ({
  ...task,
  query: query ?? null,
  needs: needs ?? [],
  metadata_filters: metadata_filters ?? null,
});

/** A task as an extension writes it: members that it leaves out do not apply. */
export const WrittenTask = z.strictObject(taskShape).transform(whole);

const { spec: _, action: _action, ...howShape } = RequestedTask.shape;
const how = Object.keys(howShape);
/** A task to open: a planned one, and with it how it is done, if that differs from the default. `mayRepeat`: equal tasks are all done. */
const TaskToOpen = z.strictObject({ ...z.object(howShape).partial().shape, mayRepeat: z.boolean().optional(), ...taskShape });
const notOfPlan = new Set([...how, 'mayRepeat']);

/** A plan that the strategy makes itself. Members that only a planner knows may be left out. */
const WrittenPlan = z
  .object({
    ...PlanCreated.schema.shape,
    epoch: z.int().nonnegative().default(0),
    complexity: Complexity.default('moderate'),
    tasks: z.array(WrittenTask),
    searchQuestion: z.string().nullable().default(null),
    fallback: z.boolean().default(false),
    reAsks: z.int().nonnegative().default(0),
    failure: FailureNote.nullable().default(null),
    usage: PlanCreated.schema.shape.usage.default(noUsage),
  })
  .strict();

/** An answer: a text, or a text with what it is based on. */
export const writtenDraft = (epoch: number): z.ZodType<Draft> =>
  z.union([
    z
      .string()
      .min(1)
      .transform((text): Draft => ({ text, sources: [], insight: null, cutShort: false, epoch })),
    z.strictObject({
      ...Draft.shape,
      text: z.string().min(1),
      sources: Draft.shape.sources.default([]),
      insight: Draft.shape.insight.default(null),
      cutShort: z.boolean().default(false),
      epoch: z.int().default(epoch),
    }),
  ]);

/** An answer as an extension writes it. */
export type WrittenDraft = string | (Partial<Draft> & Pick<Draft, 'text'>);

/** A move as an extension writes it. */
export type WrittenMove =
  | Exclude<Move, { readonly do: 'dispatch' | 'accept' | 'take' | 'say' }>
  | { readonly do: 'dispatch'; readonly tasks: readonly (RequestedTask | z.input<typeof TaskToOpen>)[]; readonly helper?: boolean }
  | { readonly do: 'accept'; readonly task: string; readonly instead?: readonly string[] }
  | { readonly do: 'take'; readonly plan: z.input<typeof WrittenPlan> }
  | { readonly do: 'say'; readonly draft: WrittenDraft };
/** A plan as an extension makes it itself. */
export type OwnPlan = z.input<typeof WrittenPlan>;

/** Shapes of moves beside `do`. */
const movesOf = (epoch: number) => ({
  dispatch: { tasks: z.array(z.unknown()).min(1), helper: z.boolean().optional() },
  judge: {
    name: z.string(),
    from: z.literal('reserve').optional(),
    stream: z.enum(['live', 'held']).optional(),
    composes: z.boolean().optional(),
  },
  accept: { task: z.string(), instead: z.array(z.string()).default([]) },
  cancel: { what: z.union([z.enum(['open', 'plan']), z.array(z.string())]) },
  note: {
    data: z.record(z.string(), z.unknown()).optional(),
    code: ThoughtCode.optional(),
    stage: StageCode.optional(),
    text: z.string().optional(),
    taskId: z.string().optional(),
    detail: z.string().optional(),
  },
  record: { fact: z.custom<Extract<RunFact, { kind: 'StepEvaluated' | 'MemoryReplaced' | 'MemoryCompressed' }>>() },
  reject: { reason: z.string().min(1) },
  plan: { forbidTried: z.boolean().optional() },
  take: { plan: WrittenPlan },
  decide: { reading: Reading.strict() },
  ask: { question: z.string().min(1) },
  say: { draft: writtenDraft(epoch) },
  become: { strategy: z.string() },
});

/**
 * Reads what a function of an extension returned as moves. Throws with a sentence for its author if it is not a list of moves, if a move
 * has a wrong shape, or if a move names something that does not exist.
 */
export function readMoves(given: unknown, view: View, judges: readonly string[]): readonly Move[] {
  if (!Array.isArray(given)) throw new Error(`It returned ${kindOf(given)}, not a list of moves.`);
  const shapes = movesOf(view.run.epoch);
  return given.map((move: unknown): Move => {
    const name = (move as { do?: unknown } | null)?.do;
    const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name as keyof typeof shapes] : undefined;
    if (!shape) {
      const what = name === undefined ? `${kindOf(move)} without \`do\`` : JSON.stringify(name);
      throw new Error(`There is no move ${what}. Moves are: ${Object.keys(shapes).join(', ')}.`);
    }
    const read = z.strictObject({ do: z.literal(name as string), ...shape }).safeParse(move);
    if (!read.success) throw new Error(`The move "${name as string}" has a wrong shape: ${faultsOf(read.error).join(' ')}`);
    return made(read.data as unknown as Written, view, judges);
  });
}

/** Reads a plan that a strategy made itself. Throws a sentence for its author. */
export function readPlan(given: unknown, view: View): PlanCreated['data'] {
  const read = WrittenPlan.safeParse(given);
  if (!read.success) throw new Error(`It returned a plan with a wrong shape: ${faultsOf(read.error).join(' ')}`);
  checkPlan(read.data, view);
  return read.data as PlanCreated['data'];
}

type Written =
  Exclude<Move, { do: 'dispatch' }> | { readonly do: 'dispatch'; readonly tasks: readonly unknown[]; readonly helper?: boolean };

function made(move: Written, view: View, judges: readonly string[]): Move {
  if (move.do === 'judge' && !judges.includes(move.name))
    throw new Error(`There is no judge called "${move.name}"; \`judges\` has: ${judges.join(', ') || 'none'}.`);
  if (move.do === 'note' && move.data) {
    const fault = jsonFault(move.data, 'data');
    if (fault) throw new Error(`The \`data\` of a move "note" has to be JSON, but ${fault}.`);
  }
  if (move.do === 'take') checkPlan(move.plan, view);
  return move.do === 'dispatch' ? { ...move, tasks: tasksToOpen(move.tasks, view) } : move;
}

function tasksToOpen(given: readonly unknown[], view: View): readonly RequestedTask[] {
  const complete = given.flatMap((one): readonly RequestedTask[] => (isWhole(one) ? [shaped(RequestedTask, one) as RequestedTask] : []));
  const written = given.filter((one) => !isWhole(one)).map((one) => shaped(TaskToOpen, one) as z.output<typeof TaskToOpen>);
  const hows = new Map(
    written.map((one) => {
      const given = Object.fromEntries(Object.entries(one).filter(([key]) => how.includes(key)));
      return [one.id, one.mayRepeat ? { ...given, action: null } : given];
    }),
  );
  const planned = written.map((one) => wholeTask(one));
  const usual = requestedTasks({ ...view, own: initialOwn }, planned).map((task) => ({ ...task, ...hows.get(task.spec.id) }));
  const tasks = [...complete, ...usual].map((task) => (task.spec.capability === runCapability ? { ...childLimits(view), ...task } : task));
  checkTasks(planned, view);
  const ids = new Set(tasks.map(({ spec }) => spec.id));
  const { tasks: known, runId, epoch } = view.run;
  for (const { spec } of tasks)
    for (const need of spec.needs)
      if (!ids.has(need) && !known[need] && !known[taskId(runId, epoch, need)])
        throw new Error(`The task "${spec.id}" needs "${need}", which is neither in the list nor in the run.`);
  return tasks;
}

/** A child run gets calls and time from its task, which has neither by itself; the limits of its template and of its parent apply as well. */
const childLimits = ({ run }: View): Pick<RequestedTask, 'calls' | 'timeoutS'> => ({
  calls: run.request.limits.model_calls,
  timeoutS: run.request.limits.wall_time_s,
});

const isWhole = (task: unknown): boolean => typeof task === 'object' && task !== null && 'spec' in task;
const wholeTask = (given: z.output<typeof TaskToOpen>): PlannedTask =>
  whole(Object.fromEntries(Object.entries(given).filter(([key]) => !notOfPlan.has(key))) as TaskGiven);

function shaped<T>(schema: z.ZodType<T>, given: unknown): T {
  const read = schema.safeParse(given);
  if (!read.success) throw new Error(`A task of the move "dispatch" has a wrong shape: ${faultsOf(read.error).join(' ')}`);
  return read.data;
}

function checkPlan({ tasks, content }: Pick<PlanCreated['data'], 'tasks' | 'content'>, view: View): void {
  const fault = jsonFault(content ?? null, 'content');
  if (fault) throw new Error(`The \`content\` of a plan has to be JSON so that a run can be stored and replayed, but ${fault}.`);
  checkTasks(tasks, view);
  checkNeeds(tasks);
}

/** Throws for tasks that cannot be put in order: those of a planner are checked before, those that a strategy writes are not. */
export function checkNeeds(tasks: readonly PlannedTask[]): void {
  const ids = new Set<string>();
  for (const { id } of tasks) {
    if (ids.has(id)) throw new Error(`The id "${id}" is used by two tasks of the plan. Give every task its own id.`);
    ids.add(id);
  }
  for (const { id, needs } of tasks)
    for (const need of needs)
      if (!ids.has(need))
        throw new Error(
          `The task "${id}" needs "${need}", which is not in the plan: \`needs\` contains ids of tasks of the same plan. It has: ${[...ids].join(', ')}.`,
        );
  if (hasCycle(tasks)) throw new Error('The `needs` of the tasks of the plan form a circle: remove one of them.');
}

/** Throws for a task that no worker knows, or whose arguments its capability does not accept: it could only fail. */
function checkTasks(tasks: readonly PlannedTask[], { template, run }: View): void {
  const offered = capabilitiesOf(template);
  for (const task of tasks) {
    const { id, capability } = task;
    const written = jsonFault(task.args ?? null, 'args');
    if (written) throw new Error(`The \`args\` of the task "${id}" have to be JSON, but ${written}.`);
    if (capability === runCapability) {
      if (depthOf(run.runId) >= deepestChild)
        throw new Error(
          `The task "${id}" would start a run ${deepestChild + 1} generations below the one that a client asked for; ${deepestChild} are allowed.`,
        );
      if (Object.keys(run.request.children ?? {}).length > 0) continue;
      throw new Error(
        `The task "${id}" has the capability "${runCapability}", which starts a run of another template. Only a strategy whose \`startsRuns\` names that template may use it.`,
      );
    }
    if (!offered.includes(capability))
      throw new Error(
        `The task "${id}" has the capability "${capability}", which the template ${template.id} does not offer. It offers: ${offered.join(', ')}.`,
      );
    const [fault] = capabilityOf(capability)?.faults?.(task, template) ?? [];
    if (fault !== undefined) throw new Error(fault);
  }
}
