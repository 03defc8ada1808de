import { KnowledgeProposed, makeEvent, SettingChanged, type Event } from '@conclave/contracts';

const runOf = (name: string): string => `run_${Buffer.from(name).toString('hex').padStart(8, '0')}`;

/** An input event of a run of its own. */
export const knowledgeOf = (name: string): Event =>
  makeEvent(
    KnowledgeProposed,
    { id: `${runOf(name)}/proposed`, runId: runOf(name), source: 'gateway', time: 1 },
    { kind: 'document', tenant: 'default', actor: 'test', text: name, about: null, proposedAt: 1 },
  );

/** What a handler may answer with; the same input and name give the same id. */
export const settled = (event: Event, setting = 'done'): Event =>
  makeEvent(
    SettingChanged,
    { id: `${event.runId}/changed/${setting}`, runId: event.runId, source: 'gateway', time: 1 },
    { setting, actor: 'test', before: null, after: null, version: 1, changedAt: 1 },
  );
