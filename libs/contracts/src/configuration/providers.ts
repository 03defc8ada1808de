import { z } from 'zod';

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

export const ProviderSettings = z.strictObject({
  base_url: httpAddress
    .meta({ expected: 'an http or https address that ends in /v1 for most servers' })
    .describe('address of an OpenAI-compatible server'),
  api_key_env: EnvName.optional().describe('environment variable that holds the API key'),
  api_key_file: z.string().min(1).optional().describe('file that holds the API key, relative to this file'),
  max_concurrency: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe('calls at the same time over all processes; 1 for a local server, 8 for others'),
  timeout_s: z.number().min(1).max(3600).default(120).describe('seconds one call may take'),
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
});
export type ModelSettings = z.infer<typeof ModelSettings>;

export const ConfiguredModel = z
  .string()
  .regex(/^[^\s@]+@[A-Za-z0-9][A-Za-z0-9_.-]*$/)
  .meta({ expected: 'a model of a provider, written model@provider' });

export const Address = httpAddress.meta({ expected: 'an http or https address' });
