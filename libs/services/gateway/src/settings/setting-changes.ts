import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { Failure, makeEvent, SettingChanged } from '@conclave/contracts';
import { traceparentFor } from '@conclave/platform';
import { EVENT_LOG, STATE, type EventLog, type StateStore } from '@conclave/ports';

/** How often a change is attempted while others change the same setting. */
const tries = 5;

export interface SettingChange {
  readonly name: string;
  readonly actor: string;
  readonly value: unknown;
  /** Version that was read; nothing is written if the current version differs. Null: any version is replaced. */
  readonly expected: number | null;
  /** The part of a value that the audit shows; by default all of it. */
  readonly shown?: (value: unknown) => unknown;
}

/** Settings that people change while the system runs. Each change is an event on the audit. */
@Injectable()
export class SettingChanges {
  constructor(
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings' | 'now'>,
    @Inject(EVENT_LOG) private readonly log: Pick<EventLog, 'publish'>,
  ) {}

  /**
   * Returns the version that holds the value. An equal value is not written again, but its event is published again, so a repeat after a failure
   * completes the change. Throws SETTING_CHANGED; and STORE_*, LOG_UNAVAILABLE: then send it again.
   */
  async write(change: SettingChange): Promise<number> {
    const { settings } = this.state;
    const { name, value, expected } = change;
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const present = await settings.read(name);
      const version = present?.version ?? 0;
      if (present && isDeepStrictEqual(present.value, value) && (expected === null || expected === version || expected === version - 1)) {
        const before = version > 1 ? ((await settings.readVersion(name, version - 1))?.value ?? null) : null;
        await this.tell(change, before, version);
        return version;
      }
      if (expected !== null && expected !== version) throw new Failure('SETTING_CHANGED', `Its current version is ${version}.`);
      if (!(await settings.write(name, version, value))) continue;
      await this.tell(change, present?.value ?? null, version + 1);
      return version + 1;
    }
    throw new Failure('SETTING_CHANGED');
  }

  /** Removes a setting. The event goes first: a repeat after a failure completes both. */
  async remove({
    name,
    actor,
    expected,
    shown,
  }: Pick<SettingChange, 'name' | 'actor' | 'shown'> & { readonly expected: number }): Promise<void> {
    const present = await this.state.settings.read(name);
    if (present?.version !== expected) return;
    await this.tell({ name, actor, value: null, expected, ...(shown ? { shown } : {}) }, present.value, expected + 1);
    await this.state.settings.remove(name, expected);
  }

  private async tell({ name, actor, value, shown = (all) => all }: SettingChange, before: unknown, version: number): Promise<void> {
    const changedAt = await this.state.now();
    const id = `setting/${name}/${version}`;
    const address = { id, runId: 'settings', source: 'gateway', time: changedAt, traceparent: traceparentFor({ id, runId: id }) } as const;
    await this.log.publish([
      makeEvent(SettingChanged, address, { setting: name, actor, before: shown(before), after: shown(value), version, changedAt }),
    ]);
  }
}
