import { ingestId } from '@conclave/contracts';
import type { Finding } from '../evidence/evidence.js';
import type { HistoryEntry } from '@conclave/test-support';
import { terminalEvents } from './terminal-events.js';
import { fieldOf, findingOf, push, type Case } from './case.js';

const finding = findingOf('model-calls-bounded');

/** The end of a killed process may be noticed this many milliseconds after others took over its work. */
const noticedMs = 1_000;
/** For this many milliseconds after the end of a run, a worker may not know of it: it reads the cancel flag every 250 ms. */
const lateMs = 2_000;

export interface CallCount {
  readonly findings: readonly Finding[];
  /** Model calls that were begun although an earlier attempt of the same step had been begun. */
  readonly duplicates: number;
}

/** Model calls are named `model@provider`, tools by a bare name. */
const isModelCall = (line: HistoryEntry): boolean => String(fieldOf(line, 'model') ?? '').includes('@');

/**
 * Check 6: a call that was finished and stored is never repeated; every other repeat is explained by a process that ended, or was
 * frozen, after it had begun the call; the model server received no more calls than that.
 */
export function checkCalls(of: Case): CallCount {
  const steps = new Map<string, HistoryEntry[]>();
  for (const line of of.lines('call')) push(steps, line.id, line);
  const paid = new Set(of.events('CallRecorded').flatMap(({ data }) => (data.model.includes('@') ? [data.step] : [])));
  const findings: Finding[] = [];
  let explained = 0;
  let duplicates = 0;
  for (const [step, lines] of steps) {
    const model = lines.some(isModelCall);
    if (model) paid.add(step);
    const invokes = lines.filter(({ phase }) => phase === 'invoke');
    if (model) duplicates += Math.max(0, invokes.length - 1);
    findings.push(...(model ? late(of, step, invokes) : []));
    for (const [n, again] of invokes.entries()) {
      if (n === 0) continue;
      const why = unexplained(of, lines, invokes[n - 1]!, again);
      if (why === null) explained += 1;
      else findings.push(finding(step, why));
    }
  }
  const seen = of.lines('model.call').filter(({ phase }) => phase === 'invoke').length;
  const allowed = paid.size + explained;
  // Repeats that are reported individually are not reported again in the sum.
  if (!of.evidence.upstreamFaults && seen > allowed + findings.length)
    findings.push(
      finding('model.call', `The model server saw ${seen} calls; ${paid.size} steps and ${explained} explained repeats allow ${allowed}.`),
    );
  return { findings, duplicates };
}

/**
 * A call for a run that had ended long before: no one waits for it, and it costs money. `step` begins with the id of its run. The call that
 * extracts what an answer teaches is made after its run, as soon as the graph is available.
 */
function late(of: Case, step: string, invokes: readonly HistoryEntry[]): readonly Finding[] {
  const runId = step.slice(0, step.indexOf('/'));
  if (step.startsWith(`${ingestId(runId)}/`)) return [];
  const end = terminalEvents(of).get(runId);
  return invokes.flatMap(({ at }) =>
    end && at > end.record.appendedAt + lateMs
      ? [finding(step, `It was begun ${at - end.record.appendedAt} ms after its run had ended.`)]
      : [],
  );
}

/** Null if a repeat is explained, otherwise a sentence. `lines` are those of the step in the order they were written. */
function unexplained(of: Case, lines: readonly HistoryEntry[], earlier: HistoryEntry, again: HistoryEntry): string | null {
  const between = lines.slice(lines.indexOf(earlier) + 1, lines.indexOf(again));
  const attempt = fieldOf(earlier, 'attempt');
  const before = lines.slice(0, lines.indexOf(again));
  if (before.some((line) => line.phase === 'ok' && fieldOf(line, 'stored') === 'stored'))
    return 'It was finished and stored, and made again.';
  // A call that was given up before anything was sent cost nothing; one that was handed back by a process that ends is counted with that
  // end.
  const givenUp = between.find(
    (line) => line.phase === 'abandoned' && line.process === earlier.process && fieldOf(line, 'attempt') === attempt,
  );
  if (givenUp && (fieldOf(givenUp, 'sent') === false || fieldOf(givenUp, 'closing') === true)) return null;
  if (hasEnded(of, earlier, again)) return null;
  return `Attempt ${String(fieldOf(again, 'attempt'))} was begun although ${earlier.process}, which had begun attempt ${String(attempt)}, had not ended.`;
}

/** Whether the process that began the earlier attempt ended, or was frozen, before the later one. */
function hasEnded({ evidence, bounds }: Case, earlier: HistoryEntry, again: HistoryEntry): boolean {
  const { process } = earlier;
  const lines = evidence.history.filter((line) => line.process === process && line.at >= earlier.at);
  if (lines.some(({ phase, at }) => phase === 'crash' && at <= again.at)) return true;
  // A process that is told to end first hands over its work, and reports its end last.
  if (lines.some(({ op, phase, at }) => op === 'process' && (phase === 'stop' || phase === 'failed') && at <= again.at + bounds.closeMs))
    return true;
  const lastWord = Math.max(...lines.map(({ at }) => at));
  return evidence.deaths.some(({ process: name, at, signal }) => {
    if (serviceOf(name) !== serviceOf(process) || at < earlier.at) return false;
    // A killed process writes nothing more; a frozen one may.
    return signal === 'SIGSTOP' ? at <= again.at : lastWord <= at && at <= again.at + noticedMs;
  });
}

/** Service of a process: the id of the process begins with it, and so does the name a supervisor uses. */
const serviceOf = (process: string): string =>
  /^(gateway|planner|experts|merger|graph-ingest|standalone)(-|$)/.exec(process)?.[1] ?? process;

/**
 * Tokens used by the model server that no recorded call counts: lines `model.call` contain `prompt_tokens` and `completion_tokens` once
 * a call is over; each step and attempt of the records is counted once.
 */
export function tokensWasted(of: Case): number {
  const spent = of.lines('model.call').reduce((sum, line) => sum + tokensOf(line), 0);
  const counted = new Map<string, number>();
  for (const { data } of of.events('CallRecorded'))
    if (data.model.includes('@')) counted.set(`${data.step} ${data.attempt}`, data.usage.prompt + data.usage.completion);
  return Math.max(0, spent - [...counted.values()].reduce((sum, tokens) => sum + tokens, 0));
}

const tokensOf = (line: HistoryEntry): number =>
  line.phase === 'ok' || line.phase === 'fail'
    ? Number(fieldOf(line, 'prompt_tokens') ?? 0) + Number(fieldOf(line, 'completion_tokens') ?? 0)
    : 0;
