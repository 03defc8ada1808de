import * as z from 'zod';

export const Timestamp = z.int().nonnegative().describe('milliseconds since 1970 by the clock of the state store');
/** UTC day of a moment, as `2026-11-22`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** ISO 639-2 for a language that is not English and cannot be named. */
export const undetermined = 'und';
export const Language = z
  .string()
  .regex(/^[a-z]{2,3}$/)
  .describe('language of the question, if it is not English: ISO 639-1, or `und` for one that cannot be named');

export const Usage = z.object({
  calls: z.int().nonnegative().describe('model calls, failed ones too'),
  prompt: z.int().nonnegative().describe('prompt tokens'),
  completion: z.int().nonnegative().describe('completion tokens, reasoning included'),
  reasoning: z.int().nonnegative().describe('completion tokens spent on reasoning'),
  cost: z.number().nonnegative().describe('currency units; 0 if the model has no price'),
  estimated: z.boolean().describe('true if a server sent no usage and tokens were estimated here'),
});
export type Usage = z.infer<typeof Usage>;

export const noUsage: Usage = { calls: 0, prompt: 0, completion: 0, reasoning: 0, cost: 0, estimated: false };

export const addUsage = (a: Usage, b: Usage): Usage => ({
  calls: a.calls + b.calls,
  prompt: a.prompt + b.prompt,
  completion: a.completion + b.completion,
  reasoning: a.reasoning + b.reasoning,
  cost: a.cost + b.cost,
  estimated: a.estimated || b.estimated,
});

export const Source = z.object({
  kind: z.enum(['web', 'corpus', 'expert', 'tool', 'graph', 'collection', 'memory', 'request']),
  title: z.string(),
  url: z.string().nullable().describe('address a person can open, or null'),
  document: z
    .string()
    .optional()
    .describe('what contains it: an uploaded document as `<collection>/<id>`, or a file by its path in the searched folder'),
  call: z.string().optional().describe('arguments of the tool call that returned it, in one short line such as `date: 2026-12-24`'),
  listed: z.boolean().optional().describe('true: a document of the request that the answer lists, because its client shows no number'),
  section: z.string().optional().describe('headings above it in its document: chapter, slide, or sheet and rows'),
  n: z.int().positive().optional().describe('number under which the answer cites it, as `[n]`'),
  insight: z
    .object({ id: z.string(), runs: z.array(z.string()).describe('runs it was learned from') })
    .optional()
    .describe('what the knowledge graph learned from earlier runs; GET /v1/knowledge/insights/{id} explains it'),
});
export type Source = z.infer<typeof Source>;

/** A sourced item or an expert's core finding; prose does not count. Identity: source (a tool's with the call) + text. */
export const Fact = z.object({
  text: z.string(),
  source: Source,
  taskId: z.string(),
  epoch: z.int().nonnegative().describe('round it was found in'),
  confidence: z.number().min(0).max(1).nullable(),
  superseded: z.boolean().optional().describe('true once a later result replaced it: no longer shown as current'),
});
export type Fact = z.infer<typeof Fact>;

/** A call of a tool of the client, which only the client can make. */
export const ClientToolCall = z.object({
  id: z.string().describe('id by which the client sends its result; names the run'),
  name: z.string().describe('tool that is called'),
  call: z.record(z.string(), z.unknown()).describe('the call in the chat protocol, as the model made it, without its id'),
});
export type ClientToolCall = z.infer<typeof ClientToolCall>;

/** Calls of tools of the client, for whose results a run waits. Absent if it waits for its user. */
export const AwaitedCalls = z
  .array(ClientToolCall.pick({ id: true, name: true }))
  .describe('calls of tools of the client whose results the run waits for');
/** What tools of the client returned. */
export const ClientEvidence = z.array(Fact).describe('results of the tools of the client');

/** What the tool model replied when it was asked whether a tool of the client is needed. */
export const ClientToolsAsked = z.object({
  model: z.string(),
  usage: Usage,
  said: z.string().nullable().describe('its text in addition to the calls'),
  calls: z.array(ClientToolCall).describe('the run waits for their results before its first plan; empty: it needs none'),
});
export type ClientToolsAsked = z.infer<typeof ClientToolsAsked>;

/** The result of a call of a tool of the client. */
export const ClientToolResult = z.object({ id: z.string().describe('id of the call'), text: z.string() });
export type ClientToolResult = z.infer<typeof ClientToolResult>;

/** Id of a span of a W3C trace. */
export const SpanId = z.string().regex(/^[0-9a-f]{16}$/);

export const PastRound = z.object({
  iteration: z.int().nonnegative().describe('0 = first pass'),
  plan_summary: z.string(),
  findings: z.string(),
  gap: z.string().describe('what was still missing after the round; empty if nothing was'),
});
export type PastRound = z.infer<typeof PastRound>;

export const TriedAction = z.object({
  capability: z.string(),
  argument: z.string().describe('query, instruction, or a call of a tool with its arguments as canonical JSON'),
  exact: z.boolean().optional().describe('true for a call with arguments: only an identical call is the same action'),
  outcome: z.enum(['open', 'facts', 'empty', 'failed', 'cancelled']),
  error: z.string().max(300).optional().describe('why a call with arguments failed, for the planner'),
  unsent: z.literal(true).optional().describe('it failed without having been made'),
});
export type TriedAction = z.infer<typeof TriedAction>;

/** The run's knowledge. Immutable goal, append-only ledger; the audit keeps everything, even what a prompt drops. */
export const Memory = z.object({
  goal: z.string().describe("the user's words"),
  searchQuestion: z.string().nullable().describe('standalone question written by the planner for follow-ups'),
  facts: z.array(Fact),
  tried: z.array(TriedAction),
  userInputs: z
    .array(z.object({ seq: z.int().nonnegative(), text: z.string() }))
    .describe('texts of commands with their numbers; guidance and context begin with a mark, an answer does not'),
});
export type Memory = z.infer<typeof Memory>;

export const Insight = z.object({
  summary: z.string().min(1).max(500),
  entities: z.array(z.string().min(1)).max(20),
  insight_type: z.enum(['comparison', 'synthesis', 'inference']),
});
export type Insight = z.infer<typeof Insight>;

export const Complexity = z.enum(['trivial', 'moderate', 'complex']);
export type Complexity = z.infer<typeof Complexity>;

/** Topics on which a wrong answer does harm. */
export const SafetyTopic = z.enum(['medicine', 'law', 'danger']);
export type SafetyTopic = z.infer<typeof SafetyTopic>;

/** A document that the client's messages quote. */
export const QuotedDocument = z.object({
  title: z.string(),
  url: z.string().nullable().describe('address a person can open, or null'),
  text: z.string(),
  listed: z.boolean().optional().describe('true: the client shows no number for it, so the answer lists it below'),
});
export type QuotedDocument = z.infer<typeof QuotedDocument>;

/** Mark of a child run whose parent has results or documents that are for its request alone. */
export const Unlearned = z
  .literal(true)
  .describe('nothing is learned from the run, because nothing is learned from the one that started it');

/** An attachment of a question: its content is a stored blob, or is at an address that the model server fetches itself. */
export const Attachment = z.object({
  kind: z.enum(['image', 'file']).describe('images are shown to a model, files are read as text'),
  mime: z.string().describe('media type, such as `image/png`; `image/*` if only an address is known'),
  name: z.string().nullable(),
  blob: z.string().nullable().describe('content hash of the blob with the bytes of an image, or with the text of a file'),
  bytes: z.int().nonnegative().optional().describe('bytes of that blob'),
  key: z.string().optional().describe('key of that encrypted blob, as base64; it is deleted with the run'),
  url: z.string().nullable().describe('address, if the client sent one instead of the bytes'),
  text: z
    .object({
      characters: z.int().nonnegative(),
      tokens: z.int().nonnegative().describe('estimated tokens'),
      excerpt: z.string().describe('its beginning, for the planner'),
    })
    .optional()
    .describe('for a file: length and beginning of its text'),
});
export type Attachment = z.infer<typeof Attachment>;

/**
 * A prompt's reference to an attachment. The content is inserted right before the call, so that state, journal and audit contain its hash
 * and never its bytes.
 */
export type AttachedReference =
  | {
      readonly kind: 'image';
      readonly mime: string;
      /** SHA-256 of the stored blob; null if `url` is set. */
      readonly blob: string | null;
      readonly bytes: number;
      /** Opens the blob; absent if it is not encrypted. */
      readonly key?: string;
      readonly url: string | null;
    }
  | {
      readonly kind: 'file';
      readonly mime: string;
      readonly name: string | null;
      readonly blob: string;
      readonly bytes: number;
      /** Opens the blob; absent if it is not encrypted. */
      readonly key?: string;
      /** Characters of its text that fit into the prompt. */
      readonly room: number;
      /** Estimated tokens of these characters. */
      readonly tokens: number;
      /** Selects its passages if it is longer than that. */
      readonly query: string;
    };

/** An answer from a cache, with its origin. */
export const CachedAnswer = z.object({
  origin: z.enum(['exact', 'semantic']),
  runId: z.string().describe('run that the answer came from'),
  question: z.string().describe('question that it answered'),
  answer: z.string(),
  sources: z.array(Source),
  distance: z.number().nullable().describe('cosine distance of the questions, 0 to 2; null for an exact hit'),
  storedAt: Timestamp,
});
export type CachedAnswer = z.infer<typeof CachedAnswer>;

/** Which cache answered a run. */
export const CacheHit = z.object({
  origin: z.enum(['exact', 'semantic']),
  runId: z.string(),
  distance: z.number().nullable(),
});
export type CacheHit = z.infer<typeof CacheHit>;

export const Review = z.enum(['none', 'confirmed', 'corrected', 'unparsable', 'not_reviewed']);
export type Review = z.infer<typeof Review>;

/** Where the run's answer may be cached; set at acceptance, so that reader and writer use the same keys. */
export const CacheKeys = z.object({
  exact: z.string().nullable().describe('key of the exact answer cache; null if it is off'),
  scope: z.string().nullable().describe('tenant, template and models under which a semantic entry is found; null if it is off'),
  plan: z.string().nullable().default(null).describe('key of the plan cache; null if it is off'),
});
export type CacheKeys = z.infer<typeof CacheKeys>;

export const ChatRole = z.enum(['system', 'developer', 'user', 'assistant', 'tool']);
export const TextMessage = z.object({ role: z.enum(['user', 'assistant']), content: z.string() });
export type TextMessage = z.infer<typeof TextMessage>;

/** Client parameters that affect the final call only. */
export const AnswerParameters = z.object({
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  stop: z.array(z.string()).optional(),
  max_tokens: z.int().positive().optional(),
  seed: z.int().optional(),
  response_format: z.record(z.string(), z.unknown()).optional(),
});
export type AnswerParameters = z.infer<typeof AnswerParameters>;

export const Outcome = z.enum(['completed', 'limit_reached', 'stuck', 'stalled', 'cancelled', 'failed']);
export type Outcome = z.infer<typeof Outcome>;

export const RuleId = z.enum(['D1', 'D2', 'D3', 'D4', 'D5', 'D6', 'D7', 'D8', 'D9', 'D10', 'D11']);
export type RuleId = z.infer<typeof RuleId>;

export const GapVerdict = z.object({
  verdict: z.enum(['complete', 'needs_more_info']),
  gap: z.string(),
  nextFocus: z.string(),
  parsed: z.boolean().describe('false if the reply had another format and the fallback COMPLETE was used'),
});
export type GapVerdict = z.infer<typeof GapVerdict>;

export const FailureNote = z.object({
  code: z.string(),
  message: z.string(),
  retriable: z.boolean(),
  retryAfterMs: z.number().nonnegative().optional().describe('milliseconds to wait from this failure on, if that is known'),
  unsent: z.literal(true).optional().describe('the call was certainly not made; absent if that is not known'),
});
export type FailureNote = z.infer<typeof FailureNote>;

/** Name of a webhook that the operator configured. */
export const WebhookName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)
  .meta({ expected: 'a name of letters, digits, `_` and `-`' });

/** Where the end of a run is delivered. Secrets are looked up at the delivery: no event contains one. */
export const DeliveryTarget = z.union([
  z.object({ webhook: WebhookName.describe('webhook of the configuration') }),
  z.object({ url: z.url().describe('address that the client gave') }),
]);
export type DeliveryTarget = z.infer<typeof DeliveryTarget>;

export const Caller = z.object({
  tenant: z.string().describe('tenant that every id of this run belongs to'),
  actor: z.string().describe('who asked: a key fingerprint, never the key'),
  user: z.string().optional().describe('hash of the end user that a client behind a shared key names'),
});
export type Caller = z.infer<typeof Caller>;
