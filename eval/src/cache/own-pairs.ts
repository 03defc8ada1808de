import { readFileSync } from 'node:fs';
import { sameQuestion } from '@conclave/questions/sameness';
import type { EvaluationReport } from '../evaluation.js';
import { MaterialMistake } from '../loop/own/material.js';
import { percent, table } from '../report.js';
import { judgePairs, type Embed, type JudgedPair } from './pair-measure.js';

export interface LabelledPair {
  readonly first: string;
  readonly second: string;
  /** Whether people say that both ask the same. */
  readonly isDuplicate: boolean;
}

/** Pairs that are embedded in one request. */
const batch = 32;
/** Printed pairs that the cache takes for the same and people do not; `--json` has all of them. */
const printed = 40;

/**
 * Reads tab-separated pairs: the last three columns of a line are a question, another one, and 1 if they ask the same or else 0. A first
 * line without a label is a header; a line in which a question is empty is left out. Throws MaterialMistake.
 */
export function readPairs(text: string): readonly LabelledPair[] {
  const lines = text.split(/\r?\n/u).map((line, index) => ({ columns: line.split('\t'), number: index + 1 }));
  const pairs = lines.flatMap(({ columns, number }) => {
    const [first, second, label] = columns.slice(-3).map((column) => column.trim());
    if (columns.length === 1 && columns[0] === '') return [];
    if (columns.length >= 3 && (label === '0' || label === '1'))
      return first && second ? [{ first, second, isDuplicate: label === '1' }] : [];
    if (number === 1) return [];
    throw new MaterialMistake(`Line ${number} must end with a question, a tab, another question, a tab, and 1 (the same) or 0.`);
  });
  if (pairs.length === 0) throw new MaterialMistake('The file has no pair of questions.');
  return pairs;
}

/** Embeds only the pairs that the comparison of words accepts: no other pair can be a hit. */
async function hitsAmong(pairs: readonly LabelledPair[], embed: Embed): Promise<readonly (LabelledPair & JudgedPair)[]> {
  const accepted = pairs.filter(({ first, second }) => sameQuestion(second, first).same);
  const hits: (LabelledPair & JudgedPair)[] = [];
  for (let at = 0; at < accepted.length; at += batch) {
    const some = accepted.slice(at, at + batch);
    const judged = await judgePairs(some, embed);
    hits.push(...some.map((pair, index) => ({ ...pair, ...judged[index]! })).filter(({ isHit }) => isHit));
  }
  return hits;
}

/** What the semantic cache would serve among pairs that other people labelled. */
export async function evaluateOwnPairs(file: string, embed: Embed): Promise<EvaluationReport> {
  const pairs = readPairs(readFileSync(file, 'utf8'));
  const hits = await hitsAmong(pairs, embed);
  const count = (of: readonly LabelledPair[], isDuplicate: boolean): number => of.filter((pair) => pair.isDuplicate === isDuplicate).length;
  const row = (name: string, isDuplicate: boolean): readonly string[] => {
    const [all, served] = [count(pairs, isDuplicate), count(hits, isDuplicate)];
    return [name, String(all), String(served), all === 0 ? '-' : percent(served / all)];
  };
  const doubtful = hits.filter(({ isDuplicate }) => !isDuplicate).sort((left, right) => left.distance - right.distance);
  return {
    definition: [
      `${pairs.length} labelled pairs of questions. A hit is a pair of which the cache would serve the answer of one for the other.`,
    ],
    sections: [
      {
        title: 'Served by the semantic cache',
        lines: table(['label', 'pairs', 'hits', 'share'], [row('the same', true), row('different', false)]),
      },
      {
        title: `Hits that are labelled as different (the nearest ${Math.min(printed, doubtful.length)} of ${doubtful.length})`,
        lines: doubtful.slice(0, printed).map(({ distance, first, second }) => `${distance.toFixed(3)}  ${first}  |  ${second}`),
      },
    ],
    findings: [],
    notes: ['Labels of public sets are often wrong about single pairs: read the listed ones before you judge.'],
    figures: { pairs: pairs.length, hits: hits.length, doubtful },
  };
}
