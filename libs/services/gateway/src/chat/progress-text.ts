import { parseTaskId, thoughts, type StreamBody, type Thought, type ThoughtCode } from '@conclave/contracts';

/** Characters of one model-written phrase inside a progress line. */
const phraseLength = 240;

type EntryOf<K extends StreamBody['kind']> = Extract<StreamBody, { kind: K }>;
type Lines = { readonly [K in StreamBody['kind']]: (entry: EntryOf<K>) => string | null };

/** What a person reads while a run works, one text per entry; null for entries that say nothing by themselves. */
export function progressText(entry: StreamBody): string | null {
  const render = lines[entry.kind] as (entry: StreamBody) => string | null;
  return render(entry);
}

const lines: Lines = {
  'run.started': ({ template, strategy, maxRounds }) =>
    `🎯 ${template}: strategy ${strategy}${maxRounds > 1 ? `, up to ${maxRounds - 1} ${maxRounds === 2 ? 're-plan' : 're-plans'}` : ''}`,
  planning: ({ epoch }) => (epoch === 0 ? '📋 Planning' : '📋 Planning how to close the gap'),
  'plan.ready': ({ tasks, fallback }) =>
    [
      `📋 Plan: ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}${fallback ? ' (one general task, because no usable plan came)' : ''}`,
      ...tasks.map(
        ({ taskId, capability, task, needs }) =>
          `   ${localOf(taskId)} · ${capability}: ${phrase(task)}${needs.length > 0 ? ` (after ${needs.map(localOf).join(', ')})` : ''}`,
      ),
    ].join('\n'),
  'task.dispatched': ({ taskId, capability }) =>
    isJudge(capability)
      ? capability === 'judge.gap'
        ? '🔎 Checking what is still missing'
        : null
      : `${sign(capability)} ${localOf(taskId)} · ${capability} started`,
  'task.settled': (entry) => settled(entry),
  assessed: ({ verdict, gap, nextFocus, parsed, failed }) => {
    if (failed) return '🔎 The check failed; whether something is missing was not assessed';
    if (!parsed) return '🔎 The check gave no readable verdict; whether something is missing was not assessed';
    if (verdict === 'complete') return '🔎 Complete: nothing is missing';
    return `🔎 More is needed: ${phrase(gap)}${nextFocus === '' ? '' : `\n   next: ${phrase(nextFocus)}`}`;
  },
  decided: ({ rule, sentence }) => `⚖️ ${rule}: ${phrase(sentence)}`,
  replanning: ({ iteration, max, gap }) => `🔄 Agentic Loop — Iteration ${iteration}/${max}\n   gap: ${phrase(gap)}`,
  // What the engine says in entries of its own is not said twice.
  thought: ({ code, text }) => (code === 'agentic.iteration' ? null : `${thoughts[code].emoji} ${thoughts[code].title}: ${phrase(text)}`),
  composing: ({ stream }) => `🔀 Writing the answer${stream === 'held' ? ' (shown when it is checked)' : ''}`,
  'command.applied': ({ seq, name, epoch }) => `🎛️ Command ${seq} (${name}) applied in round ${epoch}`,
  'command.rejected': ({ seq, name, reason }) => `🎛️ Command ${seq} (${name}) rejected: ${phrase(reason)}`,
  'run.completed': () => null,
  chunk: () => null,
  progress: ({ code, text }) => {
    const thought = thoughts[code as ThoughtCode] as Thought | undefined;
    return thought ? `   ${thought.emoji} ${thought.title}: ${phrase(text)}` : `   ${phrase(text)}`;
  },
  superseded: ({ taskId, attempt }) => `♻️ ${localOf(taskId)}: attempt ${attempt} takes over`,
};

function settled({ taskId, capability, status, confidence, facts, summary, durationMs }: EntryOf<'task.settled'>): string | null {
  if (isJudge(capability) && status === 'ok') return null;
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  const about = `${localOf(taskId)} · ${capability}`;
  if (status !== 'ok') return `⚠️ ${about}: ${status} after ${seconds}${summary === '' ? '' : `: ${phrase(summary)}`}`;
  const found = [
    facts > 0 ? `${facts} ${facts === 1 ? 'fact' : 'facts'}` : null,
    confidence === null ? null : `confidence ${confidence.toFixed(2)}`,
    seconds,
  ];
  return `✅ ${about}: ${found.filter((part) => part !== null).join(', ')}${summary === '' ? '' : `\n   ${phrase(summary)}`}`;
}

const isJudge = (capability: string): boolean => capability.startsWith('judge.');
const sign = (capability: string): string => (capability.startsWith('expert.') ? '🚀' : capability === 'research' ? '🌐' : '⚙️');
const localOf = (id: string): string => parseTaskId(id)?.local ?? id;

/** Text that a model or a page wrote, on one line and bounded. */
function phrase(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line.slice(0, phraseLength * 2)];
  return characters.length > phraseLength ? `${characters.slice(0, phraseLength - 1).join('')}…` : line;
}
