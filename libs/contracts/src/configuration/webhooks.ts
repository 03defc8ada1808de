import * as z from 'zod';
import { WebhookName } from '../values.js';
import { Address, EnvName } from './providers.js';

/** Kinds of webhook bodies: our own, which is signed, and those of chat services. */
export const webhookPresets = ['json', 'telegram', 'discord'] as const;
export type WebhookPreset = (typeof webhookPresets)[number];

const TenantName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/)
  .meta({ expected: 'a name of letters, digits, `_`, `.` and `-`' });

export const WebhookSettings = z.strictObject({
  preset: z
    .enum(webhookPresets)
    .default('json')
    .describe('what is sent: json = the end of the run, signed; telegram, discord = a message with the answer'),
  url: Address.optional().describe('address of the receiver; for telegram: of a Bot API server other than https://api.telegram.org'),
  url_env: EnvName.optional().describe('environment variable that holds the address, if the address itself is a secret as with discord'),
  url_file: z.string().min(1).optional().describe('file that holds the address, relative to this file'),
  secret_env: EnvName.optional().describe('environment variable that holds the secret for signatures: `whsec_` and base64'),
  secret_file: z.string().min(1).optional().describe('file that holds the secret for signatures, relative to this file'),
  bot_token_env: EnvName.optional().describe('telegram: environment variable that holds the token of the bot'),
  bot_token_file: z.string().min(1).optional().describe('telegram: file that holds the token of the bot, relative to this file'),
  chat_id: z.string().min(1).max(64).optional().describe('telegram: chat that gets the message'),
  tenants: z.array(TenantName).min(1).optional().describe('tenants whose runs may use it; absent: all'),
});
export type WebhookSettings = z.infer<typeof WebhookSettings>;

export const WebhookConfiguration = z.record(WebhookName, WebhookSettings);

/** How deliveries to webhooks are made, and which addresses of clients get one. */
export const WebhookDeliverySettings = z.strictObject({
  timeout_s: z.number().min(0.1).max(120).default(10).describe('seconds until the receiver must have answered'),
  attempts: z.int().min(1).max(100).default(8).describe('attempts, the first one included; after the last it is a dead letter'),
  retry_s: z.number().min(0.05).max(3_600).default(5).describe('maximum seconds before the second attempt; doubled before each later one'),
  longest_retry_s: z
    .number()
    .min(0.05)
    .max(86_400)
    .default(600)
    .describe('longest wait between two attempts, in seconds, even if a receiver asks for more with `Retry-After`'),
  concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .default(32)
    .describe('deliveries that one process makes at the same time, at most a quarter of them to one receiver'),
  waiting: z
    .int()
    .min(1)
    .max(100_000)
    .default(256)
    .describe(
      'ended runs that may wait in one process for a receiver that accepts no deliveries; further ones become dead letters at once',
    ),
  max_body_bytes: z
    .int()
    .min(4_096)
    .max(16_777_216)
    .default(1_048_576)
    .describe('largest body; a longer one loses its sources first, then the end of its answer'),
  client_hosts: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'hosts (`host` or `host:port`) whose addresses a client may give in `webhook.url`, private ones too; `*` means every public host; empty: none',
    ),
  client_secret_env: EnvName.optional().describe('environment variable with the secret that signs deliveries to addresses of clients'),
  client_secret_file: z
    .string()
    .min(1)
    .optional()
    .describe('file with the secret that signs deliveries to addresses of clients, relative to this file'),
});
export type WebhookDeliverySettings = z.infer<typeof WebhookDeliverySettings>;
