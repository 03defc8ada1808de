import type * as z from 'zod';
import { bounded, counted, shownText } from './define-fact.js';
import type { PlanCreated, PlanRequested } from './events/plan.js';
import type { Draft, Ending, Reading } from './fact-values.js';
import type { RuleId, Usage } from './values.js';

// Members of facts are spelt out, because the type of a fact depends on its sentence.
interface TakenPlan {
  readonly epoch: number;
  readonly by: 'planner' | 'engine';
  readonly plan: z.infer<typeof PlanCreated.schema>;
}
interface Decided {
  readonly rule: RuleId;
  readonly then: 'finish' | 'continue' | 'adjust' | 'ask_user' | 'ask_model';
  readonly sentence: string;
}
interface StartedRun {
  readonly request: z.infer<typeof PlanRequested.schema>;
  readonly maxRounds: number;
  readonly round?: string | undefined;
}
interface AppliedCommand {
  readonly seq: number;
  readonly name: string;
  readonly evidence?: readonly { readonly text: string }[] | undefined;
}
interface Note {
  readonly text?: string | undefined;
  readonly stage?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}
interface EndedRun {
  readonly ending: Ending;
  readonly answer: Draft | null;
  readonly usage: Usage;
  readonly openCalls: number;
}

/** What follows a sentence after a colon, or its full stop. */
export const saying = (text: string, length = shownText): string =>
  text.trim() === '' ? '.' : `: ${bounded(text.replace(/\s+/g, ' ').trim(), length)}`;

/** Characters of what a planner says beside its tasks: its reasons come last. */
const shownPlan = 600;

/** Values of any shape in one line, such as `quality = partial, missing = ["the year"]`. */
export const listed = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined && JSON.stringify(value) !== '{}')
    .map(([name, value]) => `${name} = ${typeof value === 'string' ? value : value === null ? 'none' : JSON.stringify(value)}`)
    .join(', ');

/** From where a plan came, behind its number. */
function madeBy({ by, plan: { fallback, cached, usage, reAsks } }: TakenPlan): string {
  if (cached) return ', from the plan cache,';
  const calls = ` in ${counted(usage.calls, 'model call')},`;
  if (fallback) return `, which replaces a plan of the planner because none was usable${usage.calls > 0 ? calls : ','}`;
  if (by === 'engine') return ', from the strategy itself,';
  if (usage.calls === 0) return ', from the planner without asking a model,';
  return `, from the planner${reAsks > 0 ? `, which was asked again ${counted(reAsks, 'time')},` : ''}${calls}`;
}

/** A plan with what its planner says beside the tasks. */
export function planTaken(fact: TakenPlan): string {
  const { epoch, by, plan } = fact;
  const said = listed(plan.content ?? {});
  const tasks = plan.tasks.length > 0 || said === '' ? ` with ${counted(plan.tasks.length, 'task')}` : '';
  const level = by === 'planner' && plan.signals.length > 0 ? ` and the level ${plan.complexity}` : '';
  const harm = plan.safety.length > 0 ? `, where a wrong answer does harm (${plan.safety.join(', ')})` : '';
  return `Plan ${epoch}${madeBy(fact)} was accepted${tasks}${level}${harm}${saying(said, shownPlan)}`;
}

/** What a strategy reports before the table decides. */
export function assessed(reading: Reading): string {
  const { by, sufficient, open, question, ends, unread, unaffordable } = reading;
  if (unaffordable !== undefined) return `Nothing was assessed: the budget leaves no model call for ${unaffordable}.`;
  if (by === 'planner') return `${ends ?? `The planner says that it is ${sufficient ? '' : 'not '}done`}.`;
  if (by === 'model') return ofModel(reading);
  if (by === 'rounds') return sufficient ? 'The strategy finds nothing missing.' : 'Nothing was assessed.';
  if (unread !== undefined)
    return `Whether something is missing is not known: the gap check ${unread === 'failed' ? 'failed' : 'gave no verdict that could be read'}.`;
  return sufficient ? 'Nothing is missing.' : `Still missing: ${open || question || 'it was not said what'}`;
}

function ofModel({ sufficient, confidence, invalid, model, open, question }: Reading): string {
  const why = saying(open ?? '');
  if (question !== undefined) return 'The model wants to ask the user.';
  if (sufficient) return `The model says that the goal is reached, with confidence ${confidence ?? 'unknown'}.`;
  if (model === 'adjust') return `The model wants another plan${why}`;
  if (model === 'stuck') return `The model says that it cannot go on${why}`;
  if (model === 'continue') return 'The model wants to go on with the plan.';
  return invalid ? 'The reply of the model could not be used.' : `No model was asked whether the goal is reached${why}`;
}

const consequences: Readonly<Record<Decided['then'], string>> = {
  finish: 'the run ends',
  continue: 'the run goes on',
  adjust: 'the run plans again',
  ask_user: 'the user is asked',
  ask_model: 'the strategy decides',
};
export const decided = ({ rule, then, sentence }: Decided): string => `By rule ${rule}, ${consequences[then]}: ${sentence}`;

export function runStarted({ request, maxRounds, round = 'round' }: StartedRun): string {
  const { caller, template, goal, conversation, attachments = [], documents = [], clientTools } = request;
  const who = `${caller.actor} (tenant ${caller.tenant})`;
  const earlier = conversation.length === 0 ? '' : `, after ${counted(conversation.length, 'earlier message')}`;
  const files = bounded(attachments.map(({ name, kind }) => name ?? kind).join(', '), namesLength);
  const attached = attachments.length === 0 ? '' : `, with ${counted(attachments.length, 'attachment')} (${files})`;
  const names = bounded(documents.map(({ title }, index) => `[${index + 1}] ${title}`).join(', '), namesLength);
  const withQuoted = documents.length === 0 ? '' : `, and with ${counted(documents.length, 'document')} that the request quotes (${names})`;
  const calls = clientTools?.usage.calls ?? 0;
  const afterTools = calls === 0 ? '' : `, after ${counted(calls, 'model call')} to ${clientTools!.model} about the tools of the client`;
  return `The run began for ${who} with the template ${template.id}, whose strategy makes up to ${counted(maxRounds, round)}${earlier}${attached}${withQuoted}${afterTools}${saying(goal)}`;
}
/** Maximum characters of the names of the documents of a request, and of those of its attachments. */
const namesLength = 600;

/** Which part of a fork is the other run's, and that calls may have been made twice. */
export const runForked = ({ of, step }: { readonly of: string; readonly step: number }): string =>
  `So far this run is a copy of ${of} up to step ${step}; from here on it is a run of its own, which does again what was under way then.`;

/** A line of a strategy for readers of the run, or else what it stores. */
export function noted({ text, stage, data }: Note): string {
  if (text) return text;
  return stage ? `The run is at the stage ${stage}.` : `The strategy notes for itself${saying(listed(data ?? {}))}`;
}

/** The end of a run, with what it cost and its answer. */
export function runEnded({ ending, answer, usage, openCalls }: EndedRun): string {
  const tokens = counted(usage.prompt + usage.completion, 'token');
  const cost = usage.calls === 0 ? ' It made no model call.' : ` It made ${counted(usage.calls, 'model call')} with ${tokens}.`;
  const open = openCalls > 0 ? ` ${openCalls} of its plans and tasks had not answered by then.` : '';
  const reason = /[.!?…]$/.test(ending.reason) ? ending.reason : `${ending.reason}.`;
  return `The run ended as ${ending.outcome}: ${reason}${cost}${open}${answer ? ` Its answer${answer.cutShort ? ', which was cut short' : ''}${saying(answer.text)}` : ' It has no answer.'}`;
}

/** A command that took effect, with the results of tools that it brought. */
export const applied = ({ name, seq, evidence }: AppliedCommand): string =>
  `Command ${seq} (${name}) was applied${evidence ? `, with results of the tools of the client${saying(evidence.map(({ text }) => text).join('; '))}` : '.'}`;

/** What a command says beside its name; a text is told at its arrival. */
export const commandText = ({ name: _, ...values }: Readonly<Record<string, unknown>>): string => listed(values);
