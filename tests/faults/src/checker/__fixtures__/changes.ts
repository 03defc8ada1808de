import type { StreamEntry } from '@conclave/contracts';
import { defaultBounds, type Bounds, type Evidence, type LoggedRecord } from '../../evidence/evidence.js';
import { check } from '../check.js';
import { Story } from './story.js';

export const one = 'run_00000001';
export const two = 'run_00000002';
export const clean = new Story(one, two).evidence();

export const found = (evidence: Evidence, bounds: Partial<Bounds> = {}) =>
  check(evidence, { ...defaultBounds, ...bounds }).findings.map((finding) => `${finding.check} ${finding.id}`);
export const changed = (change: (evidence: { -readonly [K in keyof Evidence]: Evidence[K] }) => void, of = clean): Evidence => {
  const copy = { ...of };
  change(copy);
  // As if it had been read from a file.
  return JSON.parse(JSON.stringify(copy)) as Evidence;
};
export const recordOf = (id: string, of = clean): LoggedRecord => of.records.find(({ event }) => event?.id === id)!;
/** A record as another attempt would have left it after the others of its topic. */
export const another = (record: LoggedRecord, data: object, id = record.event!.id): LoggedRecord => ({
  ...record,
  offset: String(1_000 + Number(record.offset)),
  headers: { ...record.headers, ce_id: id },
  event: { ...record.event!, id, data: { ...(record.event!.data as object), ...data } },
});
export const withRecord = (record: LoggedRecord): Evidence => changed((evidence) => (evidence.records = [...evidence.records, record]));
export const without = (...ids: readonly string[]): Evidence =>
  changed((evidence) => (evidence.records = evidence.records.filter(({ event }) => !ids.includes(event?.id ?? ''))));
/** The stream of the first run as it arrived over one connection. */
export const streamed = (change: (entries: readonly StreamEntry[]) => readonly StreamEntry[]): Evidence =>
  changed(
    (evidence) =>
      (evidence.viewings = evidence.viewings.map((viewing) =>
        viewing.runId === one ? { ...viewing, entries: change(viewing.entries) } : viewing,
      )),
  );
export const entries = clean.viewings[0]!.entries;
export const chunks = entries.filter(({ kind }) => kind === 'chunk').map(({ id }) => id);
export const renumbered = (list: readonly StreamEntry[]): StreamEntry[] => list.map((entry, index) => ({ ...entry, id: index + 1 }));

/** Evidence in which the call of a step is repeated after everything else. */
export const calledAgain = (
  service: string,
  step: string,
  until: Partial<Evidence> = {},
  first: object = { stored: 'refused' },
): Evidence =>
  changed((evidence) => {
    const at = evidence.history.at(-1)!.at;
    const again = { actor: service, op: 'call', id: step, process: `${service}-host-77-ffffffff` };
    Object.assign(evidence, until);
    // The run must still be open when the call is repeated.
    evidence.records = evidence.records.map((record) =>
      record.event?.type === 'RunCompleted' ? { ...record, appendedAt: at + 20_000 } : record,
    );
    evidence.history = [
      ...evidence.history.map((line) =>
        line.op === 'call' && line.id === step && line.phase === 'ok' ? { ...line, data: { attempt: 1, ...first } } : line,
      ),
      { ...again, at: at + 10_000, phase: 'invoke', data: { attempt: 2, model: 'm@fake' } },
      { actor: 'model', op: 'model.call', id: 'call-99', process: 'test', at: at + 10_001, phase: 'invoke', data: null },
      {
        actor: 'model',
        op: 'model.call',
        id: 'call-99',
        process: 'test',
        at: at + 10_002,
        phase: 'fail',
        data: { prompt_tokens: 10, completion_tokens: 2 },
      },
    ];
  });
