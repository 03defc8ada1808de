import * as z from 'zod';
import { Address, EnvName } from './providers.js';

/** Form of the request that a webhook gets. */
export const webhookPresets = ['signed', 'telegram', 'discord'] as const;

/** Name under `webhooks`. `memory` is what every result goes to. */
export const WebhookName = z
  .string()
  .regex(/^(?!memory$)[a-z][a-z0-9_-]{0,39}$/)
  .meta({ expected: 'a name of small letters, digits, `_` and `-`, other than `memory`' });

/** A place outside that the result of a run may be sent to. */
export const WebhookSettings = z.strictObject({
  preset: z
    .enum(webhookPresets)
    .default('signed')
    .describe('signed: JSON with the signature of Standard Webhooks; telegram, discord: a message of their own API'),
  url: Address.optional().describe('address that gets the request; of telegram: its API server, if it is not the public one'),
  url_env: EnvName.optional().describe('environment variable that holds the address, where the address itself is a secret (discord)'),
  secret_env: EnvName.optional().describe('environment variable that holds the key of the signature (signed)'),
  token_env: EnvName.optional().describe('environment variable that holds the token of the bot (telegram)'),
  chat: z.string().min(1).max(100).optional().describe('chat that gets the message (telegram)'),
  allow_private: z.boolean().default(false).describe('true: its host may lie in a private network, and may be asked without TLS'),
  timeout_s: z.number().min(0.1).max(60).default(10).describe('seconds of one attempt'),
  attempts: z.int().min(1).max(5).default(3).describe('attempts; a refusal is not tried again'),
});
export type WebhookSettings = z.infer<typeof WebhookSettings>;
