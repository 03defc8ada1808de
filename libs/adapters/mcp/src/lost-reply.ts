import type { Failure } from '@conclave/contracts';

/** The connection was lost before the answer. `sent`: the tool may have run. */
export class LostReply extends Error {
  constructor(
    readonly failure: Failure,
    readonly sent: boolean,
  ) {
    super(failure.message);
    this.name = 'LostReply';
  }
}
