// What a client program receives, and how it reports what works: one line of JSON for each capability.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Address without /v1. */
export const address = process.env.CLIENT_ADDRESS;
export const apiKey = process.env.CLIENT_KEY;
/**
 * A template that runs its committee, one that passes tools through, one that asks the tool model first, and a model that is asked
 * directly.
 */
export const models = { template: 'conclave-fast', passing: 'passes', asking: 'asks', direct: 'scripted@fake' };

export const versionOf = (name) => {
  const folders = createRequire(import.meta.url).resolve.paths(name);
  for (const folder of folders) {
    try {
      return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version;
    } catch {
      continue;
    }
  }
  throw new Error(`${name} is not installed.`);
};

export const tell = (line) => console.log(JSON.stringify(line));

/** Tries a capability; the error that is thrown is the reason why the client fails at it. */
export async function check(capability, work) {
  try {
    await work();
    tell({ capability, passes: true });
  } catch (error) {
    tell({ capability, passes: false, reason: String(error?.stack ?? error).slice(0, 1_500) });
  }
}

/** The rejection of a promise that must be rejected. */
export const failureOf = (promise) =>
  promise.then(
    () => assert.fail('It was not refused.'),
    (error) => error,
  );

/** `fetch` that counts its requests. */
export function counted() {
  const requests = { count: 0 };
  return [requests, (...args) => ((requests.count += 1), fetch(...args))];
}

/** A question that no other capability asks, so that no cache answers it. */
let asked = 0;
export const question = (what = '') => `How is the weather in Ulm? ${process.argv[1]} ${(asked += 1)} ${what}`;
/** What the scripted model replies, calls its tool with, and fills a schema with. */
export const said = 'It rains in Ulm.';
export const town = 'Ulm';
/** A part of a question at which the scripted model begins to reply without ever ending. */
export const endless = '[endless]';
