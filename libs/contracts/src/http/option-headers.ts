import type * as z from 'zod';
import { jsonSchemaOf, type JsonSchema } from '../json-schema.js';
import { ConclaveOptions } from './chat.js';
import { oneOf, type Parameter } from './route.js';

/** A question that any model can answer. */
export const exampleQuestion = 'What is the difference between TCP and UDP, and when does it matter?';

/** Limits of a run that a request can lower. */
export const limitNames = ['wall_time_s', 'model_calls', 'prompt_tokens', 'tokens', 'cost', 'concurrent_tasks'] as const;
/** Options whose value is a word. */
export const wordOptions = ['complexity', 'progress', 'detail', 'webhook'] as const;
/** Members of `conclave` that a header can set instead. */
export const headerOptions = ['rounds', ...wordOptions, ...limitNames] as const;

/** Header that sets an option, such as `x-conclave-wall-time-s`. */
export const headerOf = (option: (typeof headerOptions)[number]): string => `x-conclave-${option.replaceAll('_', '-')}`;

/** Marks a request as the front end's own (title, tags and so on). Empty for an ordinary question. */
export const taskHeader = 'x-conclave-task';
export const cacheHeader = 'x-conclave-cache';
export const keepAliveHeader = 'x-conclave-keep-alive-json';

/** The schema of an option without null and without its description: a header cannot be null. */
function valueOf(option: z.ZodType): JsonSchema {
  const { anyOf } = jsonSchemaOf(option, 'input') as { anyOf: readonly JsonSchema[] };
  return anyOf.find(({ type }) => type !== 'null')!;
}

export const idempotencyKey: Parameter = {
  name: 'idempotency-key',
  doc: 'a repeat of the request with this key attaches to the run it repeats; another request with the same key repeats nothing',
};

/** Headers of each request that asks a question. Members of `conclave` in the body take precedence over them. */
export const questionHeaders: readonly Parameter[] = [
  idempotencyKey,
  ...headerOptions.map((option) => ({
    name: headerOf(option),
    doc: ConclaveOptions.shape[option].description ?? '',
    schema: valueOf(ConclaveOptions.shape[option]),
  })),
  { name: cacheHeader, doc: 'off: the answer neither comes from a cache nor is cached', schema: oneOf('on', 'off') },
  {
    name: keepAliveHeader,
    doc: 'on: white space every ten seconds while an answer with `stream: false` is awaited',
    schema: oneOf('on', 'off'),
  },
  { name: taskHeader, doc: "name of a task of the front end's own, such as `title`: one model answers it, without a run" },
];
