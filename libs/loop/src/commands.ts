import { bounded, defaultTimeouts, type CommandIssued } from '@conclave/contracts';
import { resultsAsEvidence } from './client-tools.js';
import { endRun, fail } from './ending.js';
import type { Turning } from './turning.js';
import type { RunState } from './state.js';
import { ended } from './table.js';

const pauseMs = ({ request }: RunState): number => (request.template.pause_timeout_s ?? defaultTimeouts.pause_timeout_s) * 1000;

/** Longest text of a command in its acknowledgement, in characters. */
const shownText = 240;

/** Handles a command on arrival. Numbers may have gaps: missing commands are not awaited. */
export function takeCommand(turning: Turning, { seq, actor, key, command }: CommandIssued['data']): void {
  const { now, strategies } = turning;
  const { name } = command;
  const reject = (reason: string): void => turning.put({ kind: 'CommandRejected', seq, name, reason });
  const apply = (text?: string): void =>
    turning.put({ kind: 'CommandApplied', seq, name, epoch: turning.run.epoch, at: now, ...(text === undefined ? {} : { text }) });
  // The gateway tracks attached clients.
  if (name === 'attach' || name === 'detach') return;
  const first = key === undefined ? undefined : turning.run.commands.find((other) => other.key === key);
  const says = 'text' in command ? { text: bounded(command.text, shownText) } : {};
  turning.put({ kind: 'CommandAccepted', seq, name, actor, at: now, ...says, ...(key === undefined ? {} : { key }) });
  const { run } = turning;
  if (first) return reject(`It repeats command ${first.seq}.`);
  if (name === 'cancel') {
    apply();
    return endCancelled(turning, command.reason);
  }
  if (name === 'abort') {
    apply();
    const reason = `A record of this run is a dead letter: ${command.reason}`;
    return fail(turning, reason, 'aborted', { code: 'RECORD_DEAD', message: command.reason, retriable: false });
  }
  // Every strategy can begin with the results of the client's tools; only some accept an answer of the user.
  if (name === 'answer' && (command.results || run.question?.calls)) {
    if (!run.question?.calls) return reject('The run waits for no results of tools.');
    if (!command.results) return reject('The run waits for results of the tools of its client, not for a text.');
    const evidence = [...resultsAsEvidence(run, command)];
    return turning.put({ kind: 'CommandApplied', seq, name, epoch: run.epoch, at: now, evidence });
  }
  if (!strategies(run.strategy).commands.includes(name)) return reject(`The strategy ${run.strategy} does not take this command.`);
  switch (name) {
    case 'pause':
    case 'resume':
      if (seq < run.pauseSeq) return reject('It was overtaken by a later command.');
      apply();
      if (name === 'pause' && !run.paused) turning.put({ kind: 'Paused', at: now, until: now + pauseMs(run) });
      if (name === 'resume' && run.paused) turning.put({ kind: 'Resumed', at: now });
      return;
    case 'steer':
    case 'add_context':
      return apply(command.text);
    case 'answer':
      return run.question ? apply(command.text) : reject('The run has asked nothing.');
    case 'override_step':
      return run.ending ? reject('The answer is being written.') : turning.put({ kind: 'CommandQueued', seq, command });
  }
}

/** Ends the run by row D1, without an answer. */
export function endCancelled(turning: Turning, why: string): void {
  const { run, now } = turning;
  const reason = ended(`The run was cancelled: ${why}`);
  turning.put({ kind: 'Decided', epoch: run.epoch, rule: 'D1', then: 'finish', sentence: reason, at: now });
  endRun(turning, { outcome: 'cancelled', rule: 'D1', reason, reasonCode: 'cancelled' }, null);
}
