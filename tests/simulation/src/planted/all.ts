import { appliedIdsNotStored } from './applied-ids-not-stored.js';
import { cancelNotLevelTriggered } from './cancel-not-level-triggered.js';
import { commitWithoutCompareAndSet } from './commit-without-compare-and-set.js';
import { doneBeforeEffect } from './done-before-effect.js';
import { journalAcceptsLowerAttempt } from './journal-accepts-lower-attempt.js';
import { journalIgnoresLeases } from './journal-ignores-leases.js';
import { lostAnswerKeepsStep } from './lost-answer-keeps-step.js';
import { outageCountedAsFailure } from './outage-counted-as-failure.js';
import type { PlantedBug } from './planted-bug.js';
import { publishAcknowledgedEarly } from './publish-acknowledged-early.js';
import { retryMappingOverwritten } from './retry-mapping-overwritten.js';
import { streamAppendNotIdempotent } from './stream-append-not-idempotent.js';
import { supersededNotWritten } from './superseded-not-written.js';
import { sweepMissing } from './sweep-missing.js';
import { timerRemovedBeforePublish } from './timer-removed-before-publish.js';

export const plantedBugs: readonly PlantedBug[] = [
  commitWithoutCompareAndSet,
  appliedIdsNotStored,
  journalAcceptsLowerAttempt,
  journalIgnoresLeases,
  lostAnswerKeepsStep,
  doneBeforeEffect,
  publishAcknowledgedEarly,
  timerRemovedBeforePublish,
  cancelNotLevelTriggered,
  streamAppendNotIdempotent,
  supersededNotWritten,
  outageCountedAsFailure,
  retryMappingOverwritten,
  sweepMissing,
];
