import { KnowledgeProposed, makeEvent, SettingChanged, type Event } from '@conclave/contracts';

/** Events for transport tests: their content does not matter, but they are valid. */
export const inputTopic = KnowledgeProposed.topic;
export const outputTopic = SettingChanged.topic;

/** An input event; events with the same `run` name share a key. `text` is arbitrary. */
export const sampleInput = (id: string, run = id, text = id): Event =>
  makeEvent(
    KnowledgeProposed,
    { id: `${sampleRunId(run)}/proposed/${id}`, runId: sampleRunId(run), source: 'gateway', time: 1_700_000_000_000 },
    { kind: 'document', tenant: 'default', actor: 'test', text, about: id, proposedAt: 1_700_000_000_000 },
  );

/** The event a handler returns for `of`; handling it again returns the same id. */
export const sampleOutput = (of: string, run = of): Event =>
  makeEvent(
    SettingChanged,
    { id: `${sampleRunId(run)}/changed/${of}`, runId: sampleRunId(run), source: 'gateway', time: 1_700_000_000_000 },
    { setting: of, actor: 'test', before: null, after: null, version: 1, changedAt: 1_700_000_000_000 },
  );

/** The short name an event was made with. */
export const sampleName = (event: Event): string => {
  const data = event.data as { about?: string; setting?: string };
  return data.about ?? data.setting ?? '';
};

/** A valid run id for a short name. */
export const sampleRunId = (name: string): string => `run_${Buffer.from(name).toString('hex').padStart(8, '0')}`;
