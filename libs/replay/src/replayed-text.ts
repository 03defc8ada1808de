import { counted, depthOf } from '@conclave/contracts';
import { short } from '@conclave/platform';
import type { Difference, OutputDifference } from './decided.js';
import type { LineDifference, MemberDifference } from './differences.js';
import type { ReplayCounts, ReplayedRun } from './drive-run.js';
import type { StepTrace } from './replay.js';

const lineLength = 200;

/**
 * The verdict on one run, for people: one line, then the first difference and what the recording lacks. The verdict on a child run is
 * indented by its generation.
 */
export function replayedText({ runId, ended, driven, before, first, more, lacks, hash }: ReplayedRun): string {
  const open = ended ? '' : ', the run has not ended';
  const counted = counts(driven);
  const [head, ...details] = first
    ? firstLines(first, counts(before), more)
    : lacks.length > 0
      ? [`the recording is incomplete; what could be replayed decides the same: ${counted}${open}`]
      : [`same decisions, same state: ${counted}${open}`];
  const lines = [`${runId}: ${head} · hash ${hash}`, ...details, ...lacks.map((lack) => `lacks     ${short(lack, lineLength)}`)];
  const margin = '  '.repeat(depthOf(runId));
  return `${margin}${lines.join(`\n  ${margin}`)}\n`;
}

const counts = ({ steps, calls, outcomes }: ReplayCounts): string =>
  `${counted(steps, 'step')}, ${counted(calls, 'call')}, ${counted(outcomes, 'outcome')}`;

function firstLines(difference: Difference, before: string, more: number): readonly string[] {
  const [what, ...details] = differenceLines(difference);
  return [
    `${what}, after ${before} that are the same`,
    ...details,
    ...(more > 0 ? [`and       ${more} more ${more === 1 ? 'differs' : 'differ'} after it`] : []),
  ];
}

function differenceLines(difference: Difference): readonly string[] {
  switch (difference.kind) {
    case 'step': {
      const { result, output } = difference;
      const input = `input     ${result.input.type} ${result.input.id}`;
      if (result.kind === 'refused')
        return [`step ${result.version} cannot be taken today`, input, `now       ${short(result.sentence, lineLength)}`];
      return [
        `step ${result.version} differs in ${result.differs.join(', ')}`,
        input,
        ...traceLines('recorded', result.recorded),
        ...(result.now ? traceLines('now', result.now) : ['now       no step: the input changes nothing']),
        ...(output ? outputLines(output) : []),
      ];
    }
    case 'output':
      return [`step ${difference.version} outputs a different ${difference.type}`, ...outputLines(difference)];
    case 'request': {
      const { line, members } = difference.request;
      const call = `${difference.step} (${difference.purpose})`;
      if (line) return [`the prompt of ${call} differs`, ...lineLines(line)];
      if (members.length > 0) return [`the request of ${call} differs`, ...members.flatMap(memberLines)];
      return [`the request of ${call} differs`, 'recorded  only its hash (store_prompts: hash)'];
    }
    case 'unrecorded':
      return [
        `a call that was never made: ${difference.step} (${difference.purpose}) to ${difference.name}`,
        `now       it asks: ${short(difference.asks, lineLength)}`,
      ];
    case 'unmade':
      return [`a call is no longer made: ${difference.step} (${difference.purpose}) to ${difference.name}`];
    case 'outcome':
      return [
        difference.members.length > 0
          ? `${difference.type} ${difference.id} differs: the same replies are read differently`
          : `${difference.type} ${difference.id} is no longer made`,
        ...difference.members.flatMap(memberLines),
      ];
    case 'thrown':
      return [`today's code fails on ${difference.owner}`, `now       ${short(difference.sentence, lineLength)}`];
  }
}

const outputLines = ({ type, id, members }: OutputDifference): readonly string[] => [
  `event     ${type} ${id}`,
  ...members.flatMap(memberLines),
];

const memberLines = ({ path, recorded, now }: MemberDifference): readonly string[] => [
  `member    ${short(path, lineLength)}`,
  `recorded  ${short(recorded, lineLength)}`,
  `now       ${short(now, lineLength)}`,
];

const lineLines = ({ message, role, line, recorded, now }: LineDifference): readonly string[] => [
  `message   ${message} (${role}), line ${line}`,
  `recorded  ${recorded === null ? 'no such line' : short(recorded, lineLength)}`,
  `now       ${now === null ? 'no such line' : short(now, lineLength)}`,
];

const traceLines = (label: string, { fact, facts, outputs, hash, stateHash }: StepTrace): readonly string[] => [
  `${label.padEnd(9)} fact    ${fact === null ? `none; it has ${counted(facts, 'fact')}` : short(fact, lineLength)}`,
  `${''.padEnd(9)} outputs ${outputs.map(({ id, type }) => `${type} ${id}`).join(', ') || 'none'}`,
  `${''.padEnd(9)} hash    ${hash}`,
  ...(stateHash === null ? [] : [`${''.padEnd(9)} state   ${stateHash}`]),
];
