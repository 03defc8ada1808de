import * as z from 'zod';

const httpAddress = z.url({ protocol: /^https?$/, hostname: /./ });

/** Name of an environment variable that holds a secret. */
export const EnvName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .meta({ expected: 'the name of an environment variable, such as OPENAI_API_KEY' });

export const ProviderName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/)
  .meta({ expected: 'a name of letters, digits, `_`, `.` and `-`' });

/** Headers that Conclave sets itself, or that change how a request is sent. */
const ownHeaders = /^(authorization|api-key|content-.*|host|connection|transfer-encoding|te|upgrade|expect|trailer|proxy-.*|cookie)$/i;
const HeaderName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,100}$/)
  .refine((name) => !ownHeaders.test(name))
  .meta({ expected: 'the name of a header that Conclave does not set itself, such as HTTP-Referer' });
/** Visible characters of ASCII: anything else cannot be sent, and a line break would begin another header. */
const HeaderValue = z
  .string()
  .regex(/^[\x20-\x7e]{1,2000}$/)
  .meta({ expected: 'text of at most 2,000 ASCII characters without line breaks' });

const firstToken = z.number().min(1).max(7200).optional();
const idle = z.number().min(1).max(7200).optional();

const Breaker = z.strictObject({
  failures: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe('failed calls in a row after which the provider gets no calls for a while; 5 by default'),
  window: z.int().min(1).max(1000).optional().describe('number of latest calls that are considered; 20 by default'),
  share: z.number().min(0.01).max(1).optional().describe('share of them that must have failed; 0.5 by default'),
  open_s: z
    .number()
    .min(0.1)
    .max(3600)
    .optional()
    .describe('seconds until one call may test whether the provider works again; 30 by default'),
});

export const ProviderSettings = z.strictObject({
  base_url: httpAddress
    .meta({ expected: 'an http or https address that ends in /v1 for most servers' })
    .describe('address of an OpenAI-compatible server'),
  api_key_env: EnvName.optional().describe('environment variable that holds the API key'),
  api_key_file: z.string().min(1).optional().describe('file that holds the API key, relative to this file'),
  headers: z.record(HeaderName, HeaderValue).default({}).describe('headers added to each request, such as HTTP-Referer for OpenRouter'),
  headers_env: z
    .record(HeaderName, EnvName)
    .default({})
    .describe('headers added to each request whose values are secrets: the environment variables that hold them'),
  azure_api_version: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,40}$/)
    .optional()
    .meta({ expected: 'a version of the API of Azure OpenAI, such as 2024-10-21' })
    .describe(
      "for Azure's older address form, where `base_url` ends in /openai: models are the names of deployments, listed under `models`, and the key is sent as `api-key`",
    ),
  max_concurrency: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe('maximum concurrent calls over all processes; 1 for a local server, 8 for others'),
  timeout_s: z.number().min(1).max(7200).default(900).describe('maximum seconds of one call'),
  first_token_s: firstToken.describe(
    'seconds until the first text or thinking of a stream; 300 by default; for a local server, which may have to load its model first, the time of a whole call',
  ),
  idle_s: idle.describe('maximum seconds of silence within a stream; thinking, empty chunks and comments end the silence; 120 by default'),
  breaker: Breaker.optional().describe('when the provider counts as failing and its calls go to the next model'),
  local: z
    .boolean()
    .optional()
    .describe('whether the server is on this machine or in its network, for `local_only` templates; absent: decided by its address'),
  paid: z.boolean().optional().describe('whether calls cost money; a server with a key outside this network counts as paid'),
});
export type ProviderSettings = z.infer<typeof ProviderSettings>;

const Price = z.strictObject({
  input: z.number().nonnegative().describe('currency units per million prompt tokens'),
  output: z.number().nonnegative().describe('currency units per million completion tokens'),
});

export const ModelSettings = z.strictObject({
  context: z.int().min(256).max(100_000_000).optional().describe('context length in tokens'),
  price: Price.optional().describe('what the model costs; unknown prices count as 0 and cannot be capped'),
  first_token_s: firstToken.describe(
    'for this model instead of the `first_token_s` of its provider: a reasoning model may think for minutes',
  ),
  idle_s: idle.describe('for this model instead of the `idle_s` of its provider'),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

export const ConfiguredModel = z
  .string()
  .regex(/^\S+@[A-Za-z0-9][A-Za-z0-9_.-]*$/)
  .meta({ expected: 'a model of a provider, written model@provider' });

export const Address = httpAddress.meta({ expected: 'an http or https address' });
