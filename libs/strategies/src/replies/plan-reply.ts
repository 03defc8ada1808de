import type { Complexity, PlannedTask, Template } from '@conclave/contracts';
import { canonicalJson, isExpert } from '@conclave/loop';
import { capabilityNamed, capabilityOf, faultsOfPlan } from '../capabilities/declared.js';
import { isEcho } from '../prompts/echoes.js';
import { jsonIn } from './json-reply.js';
import { isObject, toolOf, type Loose } from './names.js';
import { yamlIn } from './yaml-reply.js';

export type PlanReply =
  | { readonly ok: true; readonly tasks: PlannedTask[]; readonly searchQuestion: string | null }
  | { readonly ok: false; readonly faults: readonly string[] };

const text = (...values: readonly unknown[]): string | null => {
  const found = values.find((value) => (typeof value === 'string' && value.trim() !== '') || typeof value === 'number');
  return found === undefined ? null : String(found).trim();
};

/**
 * Reads a planner's reply as tasks, or its faults as sentences for the model. `question`: query for a bare `research_needed: true`, and for
 * what only repeats the words of the prompt.
 */
export function readPlan(reply: string, template: Template, question: string, complexity: Complexity = 'moderate'): PlanReply {
  const value = planIn(reply);
  if (value === undefined) return { ok: false, faults: ['The reply contains no JSON. Reply with a JSON object {"tasks":[...]} only.'] };
  const { list, plan } = listIn(value);
  if (list === null) return { ok: false, faults: ['The JSON has no list "tasks".'] };
  const entries = list.filter(isObject);
  if (entries.length < list.length) return { ok: false, faults: ['Every task must be a JSON object with id, task and capability.'] };
  const wantsResearch = plan['research_needed'] === true || entries.some((entry) => entry['research_needed'] === true);
  // A single task that equals an example may be meant; a plan of nothing else is copied.
  const isAllCopied = entries.every((entry) => isEcho(instructionIn(entry) ?? '', question, true));
  const isCopy = (value: string | null): boolean => value !== null && isEcho(value, question, isAllCopied);
  const given = withOwnIds(entries.map((entry, index) => readTask(entry, index, { template, question, isCopy })));
  const readTasks = withoutUnavailable(withoutEqual(given), template);
  const tasks = readTasks.map((read) => read.task);
  if (wantsResearch && template.capabilities.includes('research') && !tasks.some((task) => task.capability === 'research'))
    tasks.unshift({
      id: freshId(tasks),
      capability: 'research',
      task: `Find facts for: ${question}`,
      query: question,
      needs: [],
      metadata_filters: null,
    });
  fillNeeds(tasks, new Set(readTasks.filter((read) => read.saysNeeds).map((read) => read.task)));
  const faults = [...readTasks.flatMap((read) => read.faults), ...faultsOfPlan(tasks, template, complexity)];
  return faults.length > 0
    ? { ok: false, faults }
    : { ok: true, tasks, searchQuestion: text(plan['search_question'], plan['standalone_question']) };
}

/** The JSON of a reply, or its YAML if only that holds tasks: a list in brackets inside YAML is JSON, too. */
function planIn(reply: string): unknown {
  const value = jsonIn(reply);
  return holdsTasks(value) ? value : (yamlIn(reply, holdsTasks) ?? value);
}

const holdsTasks = (value: unknown): boolean => {
  const { list } = listIn(value);
  return list !== null && list.length > 0 && list.every(isObject);
};

/** Most layers of wrapping that are removed from a plan. */
const mostWraps = 3;

/**
 * The list of tasks and the object that contains it, even if they are wrapped, such as in `{"response": {"tasks": []}}` or a list of one
 * plan.
 */
function listIn(value: unknown, depth = 0): { readonly list: readonly unknown[] | null; readonly plan: Loose } {
  if (Array.isArray(value)) {
    const [only] = value as unknown[];
    const isPlan = value.length === 1 && isObject(only) && ['tasks', 'plan'].some((name) => Array.isArray(only[name]));
    return isPlan ? listIn(only, depth + 1) : { list: value, plan: {} };
  }
  if (!isObject(value)) return { list: null, plan: {} };
  for (const name of ['tasks', 'plan']) if (Array.isArray(value[name])) return { list: value[name], plan: value };
  if (text(value['task']) !== null) return { list: [value], plan: value };
  const members = Object.values(value);
  const inner = members.length === 1 ? members[0] : value['plan'];
  const within = typeof inner === 'string' ? jsonIn(inner) : inner;
  return depth < mostWraps && typeof within === 'object' && within !== null ? listIn(within, depth + 1) : { list: null, plan: {} };
}

interface ReadTask {
  readonly task: PlannedTask;
  /** Whether the plan says what the task needs. */
  readonly saysNeeds: boolean;
  /** Whether it only repeats the words that the format holds in place of a task. */
  readonly isCopied: boolean;
  readonly faults: readonly string[];
}

/** Gives tasks that share an id ids of their own; whoever needs that id needs the first of them. */
function withOwnIds(readTasks: readonly ReadTask[]): readonly ReadTask[] {
  const taken = new Set(readTasks.map(({ task }) => task.id));
  const seen = new Set<string>();
  return readTasks.map((read) => {
    const { id } = read.task;
    if (!seen.has(id)) {
      seen.add(id);
      return read;
    }
    const numbered = (n: number): string => `${id.slice(0, 28)}-${n}`;
    let n = 2;
    while (taken.has(numbered(n))) n += 1;
    taken.add(numbered(n));
    return { ...read, task: { ...read.task, id: numbered(n) } };
  });
}

/**
 * Leaves out tasks that ask the same as an earlier one, or copy the words of the format as an earlier one does: weak models repeat an entry
 * up to the bound of the list.
 */
function withoutEqual(readTasks: readonly ReadTask[]): readonly ReadTask[] {
  const first = new Map<string, string>();
  const kept = new Map<string, string>();
  const left = readTasks.filter(({ isCopied, task: { id, needs, ...asked } }) => {
    const key = isCopied ? `copied ${isExpert(asked.capability) ? 'expert' : asked.capability}` : canonicalJson([asked, [...needs].sort()]);
    kept.set(id, first.get(key) ?? id);
    if (first.has(key)) return false;
    first.set(key, id);
    return true;
  });
  return left.length === readTasks.length
    ? readTasks
    : left.map((read) => ({ ...read, task: { ...read.task, needs: [...new Set(read.task.needs.map((need) => kept.get(need) ?? need))] } }));
}

/**
 * Replaces tasks of shipped capabilities that this template does not offer, such as a search where nothing can be searched: weak models
 * plan them again and again, whatever they are told. They are left out if an expert has a task, otherwise an expert gets them.
 */
function withoutUnavailable(readTasks: readonly ReadTask[], template: Template): readonly ReadTask[] {
  const isUnavailable = ({ task }: ReadTask): boolean =>
    capabilityOf(task.capability) !== undefined && !template.capabilities.includes(task.capability);
  const gone = readTasks.filter(isUnavailable);
  const expert = anyExpert(template);
  if (gone.length === 0 || expert === undefined) return readTasks;
  const left = readTasks.filter((read) => !isUnavailable(read));
  if (!left.some(({ task }) => isExpert(task.capability))) {
    const { id, task, needs } = gone[0]!.task;
    left.push({ ...gone[0]!, task: { id, capability: `expert.${expert}`, task, query: null, needs, metadata_filters: null } });
  }
  const ids = new Set(left.map(({ task }) => task.id));
  return left.map((read) => ({
    ...read,
    task: { ...read.task, needs: read.task.needs.filter((need) => ids.has(need) || !gone.some(({ task }) => task.id === need)) },
  }));
}

const anyExpert = ({ experts }: Template): string | undefined =>
  ['general', ...Object.keys(experts)].find((category) => Object.hasOwn(experts, category));

const instructionIn = (entry: Loose): string | null =>
  text(entry['task'], entry['description'], entry['instruction'], entry['subtask'], entry['question']);

interface PlanReading {
  readonly template: Template;
  readonly question: string;
  /** Whether a value only repeats words of the prompt. */
  readonly isCopy: (value: string | null) => boolean;
}

function readTask(entry: Loose, index: number, { template, question, isCopy }: PlanReading): ReadTask {
  const own = (value: string | null): string | null => (isCopy(value) ? question : value);
  const asked = text(entry['search_query'], entry['query']);
  const query = own(asked);
  const named = text(entry['capability'], entry['category'], entry['expert'], entry['tool']) ?? (query ? 'research' : 'general');
  const plain = named.toLowerCase().replaceAll(/[\s-]+/g, '_');
  const tool = text(
    entry['mcp_tool'],
    entry['tool_name'],
    entry['operation'],
    isObject(entry['math_args']) ? entry['math_args']['operation'] : undefined,
  );
  const meant = capabilityNamed(plain);
  // A template's category of the same name is an expert, except for research, which has many names.
  const isMeant =
    meant && (meant.name === 'research' || template.capabilities.includes(meant.name) || !Object.hasOwn(template.experts, plain));
  const said = isMeant ? meant.name : plain.startsWith('expert.') ? plain : named.includes('.') ? named : `expert.${plain}`;
  const written = instructionIn(entry) ?? query;
  const isCopied = isCopy(written) && (asked === null || isCopy(asked));
  const runs = runsTool(said, tool, template) ? 'mcp' : said;
  // Arguments beside copied words are copied, too; a search looks up the question.
  const capability = isCopied && capabilityOf(runs)?.takesArguments ? `expert.${anyExpert(template) ?? 'general'}` : runs;
  const declared = capabilityOf(capability);
  const instruction = own(written);
  const needs = entry['needs'] ?? entry['depends_on'];
  const rawId = text(entry['id'], entry['name']);
  return {
    task: {
      id: rawId === null ? `t${index + 1}` : localId(rawId),
      capability,
      task: instruction ?? '?',
      query: declared?.query === 'instruction' ? (query ?? instruction) : declared?.query === 'given' ? query : null,
      needs: Array.isArray(needs) ? needs.map((need) => localId(String(need))) : [],
      metadata_filters: filtersOf(entry['metadata_filters']),
      ...redoneBy(entry),
      ...(declared?.takesArguments ? { tool: declared.tool ? declared.tool({ tool, named }, template) : tool, args: argsOf(entry) } : {}),
    },
    saysNeeds: Array.isArray(needs),
    isCopied,
    faults: instruction === null ? [`Task ${index + 1} has no "task".`] : [],
  };
}

/** Whether a task that names an offered tool runs it, although the plan says `math`, whose operations are no tools. */
const runsTool = (capability: string, tool: string | null, template: Template): boolean =>
  capability === 'math' &&
  template.capabilities.includes('mcp') &&
  (template.tools ?? []).some(({ name }) => name === toolOf(tool, template));

/** Characters at the end of a text in which the id of a task is read. */
const longestName = 80;

/** Earlier tasks that this one redoes, `<epoch>/<id>` or a bare id, ignoring surrounding characters. */
function redoneBy(entry: Loose): { redoes?: string[] } {
  const given = entry['redoes'] ?? entry['supersedes'] ?? entry['replaces'] ?? entry['corrects'];
  const names = (Array.isArray(given) ? given : [given]).flatMap((name) => {
    const found =
      typeof name === 'string'
        ? /(?:\d+\/)?[A-Za-z0-9][A-Za-z0-9_.-]*$/.exec(
            name
              .trim()
              .slice(-longestName)
              .replace(/[\])"'`]+$/, ''),
          )
        : null;
    return found && !/^(?:none|null|no)$/i.test(found[0]) ? [found[0]] : [];
  });
  return names.length > 0 ? { redoes: names } : {};
}

/** Arguments as an object; parses a string that contains JSON. */
function argsOf(entry: Loose): Record<string, unknown> {
  const given = entry['mcp_args'] ?? entry['math_args'] ?? entry['args'] ?? entry['arguments'];
  if (isObject(given)) return given;
  if (typeof given === 'string') {
    const read = jsonIn(given);
    if (isObject(read)) return read;
  }
  return typeof entry['expression'] === 'string' ? { expression: entry['expression'] } : {};
}

/** Ids become part of event ids: letters, digits, `_`, `.`, `-`, at most 32, never the engine's own prefix. */
function localId(raw: string): string {
  const id = raw
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 32);
  return id === '' || id.startsWith('judge.') ? `t-${id.replace('judge.', '')}`.slice(0, 32) : id;
}

const freshId = (tasks: readonly PlannedTask[]): string => {
  let n = 1;
  while (tasks.some((task) => task.id === `r${n}`)) n += 1;
  return `r${n}`;
};

function filtersOf(value: unknown): Record<string, string> | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return entries.length > 0 ? Object.fromEntries(entries) : null;
}

/** Research of a round reaches every expert of that round unless the task says what it needs. */
function fillNeeds(tasks: PlannedTask[], explicit: ReadonlySet<PlannedTask>): void {
  const evidence = tasks.filter((task) => !isExpert(task.capability)).map((task) => task.id);
  tasks.forEach((task, index) => {
    if (isExpert(task.capability) && !explicit.has(task)) tasks[index] = { ...task, needs: evidence };
  });
}
