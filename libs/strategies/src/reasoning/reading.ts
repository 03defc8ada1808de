import type { Reading } from '@conclave/contracts';
import { optionsOf } from './options.js';
import { lastStep, mayAsk, stepsLeft, type ReasoningView } from './own.js';

/** The input of the decision table: the state of the step and its plan, or the decision of the model. */
export function readingOf(view: ReasoningView): Reading {
  const { own, template, lastRound, run } = view;
  const { max_adjusts_at_confidence: most } = optionsOf(template);
  const didRun = !own.unprepared && lastStep(view)?.[1].result?.status === 'ok';
  const left = stepsLeft(own);
  const base: Reading = {
    by: 'model',
    failed: !didRun || own.quality === 'failed',
    held: left,
    ...(own.invalid ? { invalid: true } : {}),
    ...(own.unaffordable === null ? {} : { unaffordable: own.unaffordable }),
    // Only the last round may leave something open: in any other round an open gap would request another plan.
    ...(lastRound && run.round ? { open: left > 0 ? 'the plan had steps left' : 'the last step did not reach the goal' } : {}),
  };
  const { word } = own;
  if (word === null) {
    const isReached = own.steps !== null && left === 0 && didRun && own.quality === 'good';
    return isReached ? { ...base, by: 'assessment', sufficient: true } : { ...base, sufficient: false };
  }
  switch (word.action) {
    case 'continue':
      return { ...base, model: 'continue' };
    case 'done':
      return { ...base, held: 0, sufficient: true, confidence: word.confidence, model: 'continue' };
    case 'ask_user':
      return { ...base, held: 0, ...(mayAsk(view) ? { question: word.question ?? '' } : { model: 'continue' }) };
    case 'stuck':
      return { ...base, held: 0, model: 'stuck', open: word.reason };
    case 'adjust':
      return {
        ...base,
        held: 0,
        model: 'adjust',
        open: word.reason || 'the plan does not work',
        ...(own.confidentAdjusts >= most ? { circling: `The plan was changed ${own.confidentAdjusts} times at high confidence` } : {}),
      };
  }
}
