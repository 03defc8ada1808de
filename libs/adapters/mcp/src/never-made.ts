import { Failure } from '@conclave/contracts';

/** The failure of a call of which nothing was sent. */
export const neverMade = ({ code, detail, options }: Failure): Failure => new Failure(code, detail, { ...options, unsent: true });
