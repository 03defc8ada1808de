import { Agent, fetch } from 'undici';

/** Connections to model servers. How long a reply may take is the business of the call: a model may think longer than five minutes. */
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** `fetch` over these connections. */
export const request: typeof fetch = (input, init) => fetch(input, { ...init, dispatcher: agent });
