import { Agent, fetch } from 'undici';

/** Connections to model servers, without timeouts: the call bounds the wait, and a model may think longer than five minutes. */
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** `fetch` over these connections. */
export const request: typeof fetch = (input, init) => fetch(input, { ...init, dispatcher: agent });
