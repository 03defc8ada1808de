import type { StreamEntry } from '@conclave/contracts';
import { capabilityText } from '../../run/task-words.js';

const localName = (id: string): string => id.split('/').at(-1) ?? id;

/** Entries of workers that mean little on their own; the buttons of the replay skip them. */
export const isDetail = ({ kind }: StreamEntry): boolean => kind === 'chunk' || kind === 'progress';

/** An event as one sentence. */
export function eventText(entry: StreamEntry): string {
  switch (entry.kind) {
    case 'run.started':
      return `The run begins under the template ${entry.template}.`;
    case 'run.forked':
      return `It continues from step ${entry.step} of another run.`;
    case 'planning':
      return 'The planner is asked for a plan.';
    case 'replanning':
      return `The planner is asked again: ${entry.gap}`;
    case 'plan.ready':
      return `A plan with ${entry.tasks.length} ${entry.tasks.length === 1 ? 'task' : 'tasks'} was accepted.`;
    case 'task.dispatched':
      return `${capabilityText(entry.capability)} (${localName(entry.taskId)}) goes out.`;
    case 'task.settled':
      return `${capabilityText(entry.capability)} (${localName(entry.taskId)}) ends: ${entry.status}.`;
    case 'assessed':
      return entry.gap === '' ? 'Nothing is missing.' : `Missing: ${entry.gap}`;
    case 'decided':
      return `${entry.rule}: ${entry.sentence}`;
    case 'thought':
    case 'stage':
    case 'progress':
      return entry.text;
    case 'composing':
      return 'The answer is being written.';
    case 'chunk':
      return `${entry.text.length} characters of the answer arrive.`;
    case 'superseded':
      return `Another attempt of ${localName(entry.taskId)} takes the place of the one before.`;
    case 'command.accepted':
      return `The command "${entry.name}" is accepted.`;
    case 'command.applied':
      return `The command "${entry.name}" is applied.`;
    case 'command.rejected':
      return `The command "${entry.name}" is rejected: ${entry.reason}`;
    case 'question.asked':
      return `The run asks: ${entry.question}`;
    case 'run.completed':
      return `The run ends: ${entry.reason}`;
  }
}
