import { Failure } from '@conclave/contracts';

/** MATH_INPUT_INVALID with a sentence that says what to write. */
export const unreadable = (sentence: string): Failure => new Failure('MATH_INPUT_INVALID', sentence);
