import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Evidence } from './evidence.js';

/** Lists that evidence has in every scenario. */
const lists = ['history', 'asked', 'viewings', 'records', 'committed', 'lag', 'memory', 'closings', 'deaths'] as const;

/** Stores evidence as JSON, so that it can be judged again. Creates the folder if it is missing. */
export function writeEvidence(file: string, evidence: Evidence): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(evidence, null, 1)}\n`);
}

/** Evidence as stored by `writeEvidence`. Throws an Error that names the file and says what is wrong with it. */
export function readEvidence(file: string): Evidence {
  const evidence = parsed(file);
  const missing = lists.filter((list) => !Array.isArray(evidence[list]));
  if (missing.length > 0) throw new Error(`${file} is not the evidence of a scenario: it has no ${missing.join(', ')}.`);
  if (typeof evidence.replay?.modelCalls !== 'number')
    throw new Error(`${file} is not the evidence of a scenario: it has no result of a replay.`);
  return evidence as Evidence;
}

function parsed(file: string): Partial<Evidence> {
  const text = readFileSync(file, 'utf8');
  try {
    const value = JSON.parse(text) as Partial<Evidence> | null;
    return typeof value === 'object' && value !== null ? value : {};
  } catch (error) {
    throw new Error(`${file} is not JSON.`, { cause: error });
  }
}
