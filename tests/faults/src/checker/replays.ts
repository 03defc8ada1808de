import type { Finding } from '../evidence/evidence.js';
import { findingOf, type Case } from './case.js';

const finding = findingOf('replay-the-same');

/** Check 7: replaying the recorded runs leads to the same decisions, without a model call. */
export function checkReplay({ evidence }: Case): readonly Finding[] {
  const { code, text, modelCalls } = evidence.replay;
  const differing = differingRuns(text);
  const silent = code !== 0 && differing.length === 0;
  return [
    ...differing,
    ...(silent
      ? [finding('replay', `It ended with ${code === null ? 'no code' : `code ${code}`}: ${text.trim().split('\n').at(-1) ?? ''}`)]
      : []),
    ...(modelCalls > 0 ? [finding('replay', `It made ${modelCalls} model calls.`)] : []),
  ];
}

/** A verdict begins with its run; its further lines are indented, and so are the verdicts of child runs. */
function differingRuns(text: string): readonly Finding[] {
  return text.split('\n').flatMap((line) => {
    const verdict = /^\s*(run_[^\s:]+): (.*)$/.exec(line);
    if (verdict) return verdict[2]!.startsWith('same') ? [] : [finding(verdict[1]!, `${verdict[2]!}.`)];
    const undecodable = /^\s+cannot be decoded: (\S+)/.exec(line);
    return undecodable ? [finding(undecodable[1]!, 'It cannot be decoded.')] : [];
  });
}
