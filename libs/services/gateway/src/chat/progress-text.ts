import { counted, parseTaskId, thoughts, type Outcome, type StreamBody, type Thought, type ThoughtCode } from '@conclave/contracts';

/** Longest model-written phrase in a progress line, in characters. */
const phraseLength = 240;

type EntryOf<K extends StreamBody['kind']> = Extract<StreamBody, { kind: K }>;
type Lines = { readonly [K in StreamBody['kind']]: (entry: EntryOf<K>) => string | readonly string[] | null };

/** Details are nested below the previous line: in Markdown each line begins with `- `, a detail with two more spaces. */
const isDetail = (entry: StreamBody): boolean => entry.kind === 'progress';

/** Lines that describe an entry to a person, headline first; none for entries without a message. */
function linesOf(entry: StreamBody): readonly string[] {
  const said = (lines[entry.kind] as (entry: StreamBody) => string | readonly string[] | null)(entry);
  return said === null ? [] : typeof said === 'string' ? [said] : said;
}

/** The text of an entry for a terminal, with indented details; null for entries without a message. */
export function progressText(entry: StreamBody): string | null {
  const [head, ...rest] = linesOf(entry);
  if (head === undefined) return null;
  return [isDetail(entry) ? `   ${head}` : head, ...rest.map((line) => `   ${line}`)].join('\n');
}

/** The same as items of a Markdown list, which stays readable unrendered; rendering would lose mere indentation. */
export function progressMarkdown(entry: StreamBody): string | null {
  const [head, ...rest] = linesOf(entry);
  if (head === undefined) return null;
  return [isDetail(entry) ? `  - ${head}` : `- ${head}`, ...rest.map((line) => `  - ${line}`)].join('\n');
}

/** How a run ended, in words to put before the reason. */
export const outcomeWords: Readonly<Record<Outcome, string>> = {
  completed: 'Done',
  limit_reached: 'Stopped at a limit',
  stuck: 'Stuck',
  stalled: 'No more progress',
  cancelled: 'Cancelled',
  failed: 'Failed',
};

const lines: Lines = {
  'run.started': ({ template, strategy, maxRounds, round }) => {
    const most = round ? counted(maxRounds, round) : counted(maxRounds - 1, 're-plan');
    return `🎯 ${template}: strategy ${strategy}${maxRounds > 1 ? `, up to ${most}` : ''}`;
  },
  'run.forked': ({ of, step }) => `🍴 Up to here as ${of} up to its step ${step}; from here on live`,
  planning: ({ epoch }) => (epoch === 0 ? '📋 Planning' : '📋 Planning how to close the gap'),
  'plan.ready': ({ tasks, fallback, says }) => [
    `📋 Plan: ${says ? `${phrase(says)} (${counted(tasks.length, 'task')})` : counted(tasks.length, 'task')}${fallback ? ' (a general one, because no plan was usable)' : ''}`,
    ...tasks.map(
      ({ taskId, capability, task, needs }) =>
        `${localOf(taskId)} · ${nameOf(capability)}: ${phrase(task)}${needs.length > 0 ? ` (after ${needs.map(localOf).join(', ')})` : ''}`,
    ),
  ],
  'task.dispatched': ({ taskId, capability }) =>
    isJudge(capability)
      ? capability === 'judge.gap' || capability === 'judge.assess'
        ? '🔎 Checking what is still missing'
        : null
      : `${sign(capability)} ${localOf(taskId)} · ${nameOf(capability)} started`,
  'task.settled': (entry) => settled(entry),
  assessed: ({ verdict, gap, nextFocus, parsed, failed }) => {
    if (failed) return '🔎 The check failed; whether something is missing was not assessed';
    if (!parsed) return '🔎 The check returned no readable verdict; whether something is missing was not assessed';
    if (verdict === 'complete') return '🔎 Complete: nothing is missing';
    const next = phrase(nextFocus);
    return [`🔎 More is needed: ${phrase(gap)}`, ...(next === '' || phrase(gap).includes(next) ? [] : [`next: ${next}`])];
  },
  // The rule's id is omitted. D9 is skipped: the gap check and the next round both name what is missing.
  decided: ({ rule, sentence }) => (rule === 'D9' ? null : `⚖️ ${phrase(sentence)}`),
  replanning: ({ iteration, max, gap, round }) =>
    round
      ? `🌊 ${round.charAt(0).toUpperCase()}${round.slice(1)} ${iteration + 1} of at most ${max + 1}`
      : [`🔄 Agentic Loop — Iteration ${iteration}/${max}`, `gap: ${phrase(gap)}`],
  // Other entries of the engine already report this.
  'question.asked': ({ question }) => `❓ ${phrase(question)}`,
  thought: ({ code, text }) => (code === 'agentic.iteration' ? null : `${thoughts[code].emoji} ${phrase(text)}`),
  stage: ({ text }) => (text === '' ? null : `🧭 ${phrase(text)}`),
  composing: ({ stream }) => `🔀 Writing the answer${stream === 'held' ? ' (shown when it is checked)' : ''}`,
  'command.accepted': ({ seq, name, actor, text }) => `🎛️ Command ${seq} (${name}) by ${actor}${text ? `: ${phrase(text)}` : ''}`,
  'command.applied': ({ seq, name, epoch }) => `🎛️ Command ${seq} (${name}) applied in round ${epoch + 1}`,
  'command.rejected': ({ seq, name, reason }) => `🎛️ Command ${seq} (${name}) rejected: ${phrase(reason)}`,
  'run.completed': () => null,
  chunk: () => null,
  progress: ({ code, text }) => {
    const thought = thoughts[code as ThoughtCode] as Thought | undefined;
    return thought ? `${thought.emoji} ${phrase(text)}` : phrase(text);
  },
  superseded: ({ taskId, attempt }) => `♻️ ${localOf(taskId)}: attempt ${attempt} replaces the previous one`,
};

/** The status of a task in words. */
const statusWords: Readonly<Record<string, string>> = {
  error: 'failed',
  timeout: 'took too long and was stopped',
  cancelled: 'was cancelled',
  unsupported: 'cannot be done here',
  unavailable: 'found no worker',
  repeated: 'was not asked again',
};

function settled({
  taskId,
  capability,
  status,
  confidence,
  facts,
  summary,
  durationMs,
}: EntryOf<'task.settled'>): readonly string[] | null {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  const about = isJudge(capability) ? nameOf(capability) : `${localOf(taskId)} · ${nameOf(capability)}`;
  const said = phrase(summary);
  if (status !== 'ok') return [`⚠️ ${about} ${statusWords[status] ?? status} after ${seconds}${said === '' ? '' : `: ${said}`}`];
  if (isJudge(capability)) return null;
  const found = [facts > 0 ? counted(facts, 'fact') : null, confidence === null ? null : `confidence ${confidence.toFixed(2)}`, seconds];
  return [`✅ ${about}: ${found.filter((part) => part !== null).join(', ')}`, ...(said === '' ? [] : [said])];
}

const capabilityNames: Readonly<Record<string, string>> = {
  research: 'search',
  math: 'mathematics',
  mcp: 'tool',
  graph: 'knowledge graph',
  collections: 'uploaded documents',
  'collections.discover': 'documents to look in',
  'collections.read': 'one document',
  'judge.gap': 'The check of what is missing',
  'judge.facts': 'Taking facts from what was found',
  'judge.assess': 'The check of what is missing',
  'judge.refine': 'Writing the next query',
  'judge.synthesis': 'Writing the answer',
  'judge.thinking': 'Thinking the question through',
  'judge.hints': 'Looking for hints to unsure experts',
  'judge.score': 'Comparing the answers',
  'judge.critic': 'The review of the answer',
};

/** `expert.medical_consult` as `medical consult expert`. */
function nameOf(capability: string): string {
  const category = /^expert\.(.+)$/.exec(capability)?.[1];
  return category ? `${category.replaceAll('_', ' ')} expert` : (capabilityNames[capability] ?? capability);
}

const isJudge = (capability: string): boolean => capability.startsWith('judge.');
const sign = (capability: string): string => (capability.startsWith('expert.') ? '🚀' : capability === 'research' ? '🌐' : '⚙️');
const localOf = (id: string): string => parseTaskId(id)?.local ?? id;

/** Text from a model or a page, on one line and cut to a bounded length. */
function phrase(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line.slice(0, phraseLength * 2)];
  return characters.length > phraseLength ? `${characters.slice(0, phraseLength - 1).join('')}…` : line;
}
