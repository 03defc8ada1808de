import type { Finding } from '../evidence/evidence.js';
import { findingOf, type Case } from './case.js';

const finding = findingOf('own-promise');

/** Check 12: the scenario saw nothing that breaks what it promises in addition to the other checks. */
export const checkOwnPromise = ({ evidence }: Case): readonly Finding[] =>
  (evidence.broken ?? []).map(({ id, sentence }) => finding(id, sentence));
