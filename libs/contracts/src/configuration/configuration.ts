import * as z from 'zod';
import { AliasTarget } from './aliases.js';
import { KeyLimits } from './key-limits.js';
import { Address, ConfiguredModel, EnvName, ModelSettings, ProviderName, ProviderSettings } from './providers.js';
import { ReasoningOptions } from './reasoning.js';
import { defaultRetentionDays } from '../topics.js';
import { defaultRepetitionLimit } from './defaults.js';
import { StoreSettings } from './stores.js';
import { TemplateId, TemplateSettings } from './templates.js';
import { WebhookConfiguration, WebhookDeliverySettings } from './webhooks.js';

const McpSettings = z.strictObject({
  builtin: z.string().min(1).optional().describe('name of a server that comes with the product'),
  url: Address.optional().describe('address of a server'),
  headers_env: z.record(z.string(), EnvName).optional().describe('header sent to `url` -> environment variable that holds its value'),
  command: z.string().min(1).optional().describe('program to start; the protocol runs over its stdin and stdout'),
  args: z.array(z.string()).optional().describe('its arguments'),
  env: z.record(z.string(), EnvName).optional().describe('variable of the program -> environment variable that holds its value'),
  allow: z.boolean().optional().describe('must be true for a program to be started'),
  enabled: z.boolean().optional().describe('false: the server is not used'),
  may_write: z
    .boolean()
    .optional()
    .describe(
      'true: every template may call all its tools; otherwise a template must name each tool that does not declare itself read-only',
    ),
});

/** A proxy whose forwarded headers are trusted: an address, a range of addresses, or the name of a range. */
const ProxyAddress = z
  .union([z.literal('loopback'), z.literal('uniquelocal'), z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])
  .meta({ expected: 'an address, a range such as 10.0.0.0/8, `loopback` or `uniquelocal`' });

const GatewaySettings = z.strictObject({
  max_body_bytes: z
    .int()
    .min(1_024)
    .max(1_073_741_824)
    .default(4 * 1024 * 1024)
    .describe('largest request body'),
  max_document_bytes: z
    .int()
    .min(1_024)
    .max(1_073_741_824)
    .default(20 * 1024 * 1024)
    .describe('maximum size of a document uploaded into a collection'),
  max_tenant_upload_bytes: z
    .int()
    .min(1_024)
    .max(1_099_511_627_776)
    .default(2 * 1024 * 1024 * 1024)
    .describe('total size of documents, images and files that a tenant may upload in 30 days, removed ones included'),
  max_attachment_bytes: z
    .int()
    .min(0)
    .max(1_073_741_824)
    .default(10 * 1024 * 1024)
    .describe('total decoded size of the images and files of one request; not counted as body'),
  max_attachments: z.int().min(0).max(100).default(8).describe('maximum number of images and files in one question'),
  max_embedding_texts: z.int().min(1).max(100_000).default(2_048).describe('maximum number of texts in one request for embeddings'),
  max_open_runs: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(64)
    .describe('maximum number of runs in flight over all gateways; above it, 429 with Retry-After'),
  max_direct_calls: z
    .int()
    .min(1)
    .max(100_000)
    .default(256)
    .describe(
      'maximum number of open requests to single models in one gateway, and separately of requests for embeddings; above it, 429 with Retry-After',
    ),
  max_event_streams: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(1_000)
    .describe('maximum number of event streams that one API key may have open at one gateway; above it, 429 with Retry-After'),
  reserve_tokens: z
    .int()
    .min(1)
    .max(10_000_000)
    .default(4_000)
    .describe('tokens reserved on a limited key for a run or a reply until it is known how many its template or model needs'),
  max_queue_wait_s: z
    .number()
    .min(0)
    .max(3_600)
    .default(60)
    .describe(
      'seconds that tasks may wait for a worker, as measured by the workers; above it, or above the `start_timeout_s` of the template, new runs get 503 with Retry-After; 0 = admit always',
    ),
  park_s: z
    .number()
    .min(1)
    .max(3_600)
    .default(60)
    .describe(
      'seconds that a run waits for its client to return, if the client sent an Idempotency-Key or uses an SDK that retries, or if its gateway died; the run makes no new calls meanwhile and is cancelled afterwards',
    ),
  request_timeout_s: z
    .number()
    .min(1)
    .max(3_600)
    .default(30)
    .describe('seconds for the head of a request and for its body; each 16 KB of the body that arrive add one second'),
  max_issued_keys: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(10_000)
    .describe('maximum number of issued API keys, revoked and expired ones included'),
  revoked_keys_days: z
    .int()
    .min(1)
    .max(3_650)
    .default(90)
    .describe(
      'days for which revoked API keys are listed; afterwards they are removed when keys are next listed, or when another key needs the room',
    ),
  keys_without_store_s: z
    .number()
    .min(0)
    .max(86_400)
    .default(300)
    .describe(
      'seconds for which issued API keys stay valid while the state store cannot be read; a revocation is not seen during this time',
    ),
  session_idle_s: z
    .int()
    .min(60)
    .max(31_536_000)
    .default(28_800)
    .describe('seconds without a request after which a signed-in page must sign in again'),
  session_s: z
    .int()
    .min(60)
    .max(31_536_000)
    .default(604_800)
    .describe('seconds after which a page must sign in again even if it is in use'),
  trusted_proxies: z
    .array(ProxyAddress)
    .default([])
    .describe('addresses of reverse proxies whose `x-forwarded-proto` is trusted, such as 10.0.0.0/8; absent: none'),
  heartbeat_s: z.number().min(1).max(15).default(10).describe('seconds of silence before a heartbeat comment on a stream'),
  keep_alive_json: z
    .boolean()
    .default(false)
    .describe(
      'whether white space is sent every ten seconds before an answer with `stream: false`, for proxies that close silent connections; a failure after that resets the connection; a request may set this itself',
    ),
});

const TaskClassSettings = z.strictObject({
  capabilities: z.array(z.string().min(1)).default([]).describe('capabilities (or their first word) that this class runs'),
  concurrency: z.int().min(1).max(1000).optional().describe('tasks that one worker process runs at the same time'),
});

export const TaskClassName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,29}$/)
  .meta({ expected: 'small letters, digits and `-`' });

/** Rights of a key. Which routes accept it: `accessKinds`. */
export const keyRoles = ['user', 'auditor', 'admin'] as const;
export type KeyRole = (typeof keyRoles)[number];

/** What a key may do. */
export const ConfiguredRole = z.enum(keyRoles);

export const TenantName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, { error: 'must be a name of at most 64 letters, digits, `_`, `.` and `-`' })
  .meta({ expected: 'a name of letters, digits, `_`, `.` and `-`' });

const ClientKeySettings = z.strictObject({
  key_env: EnvName.optional().describe('environment variable that holds the key'),
  key_file: z.string().min(1).optional().describe('file that holds the key, relative to this file'),
  tenant: TenantName.default('default').describe('tenant whose runs, documents, caches and knowledge the key can see'),
  detail: z
    .enum(['redacted', 'full'])
    .default('redacted')
    .describe('full: the events of its runs contain prompts and raw replies, and the key may read them'),
  role: ConfiguredRole.default('user').describe(
    'user: asks, uploads, rates and deletes; auditor: reads, also the audit, and prompts and raw replies of runs that keep them, and may fork and rerun runs; admin: may do both, and use the admin routes',
  ),
  limits: KeyLimits.optional().describe('limits of the key over all gateways'),
  user_limits: KeyLimits.optional().describe('limits of each end user whom its requests name, in addition to those of the key'),
});

/** How a reranker puts the hits of one retrieval in order. */
const RerankSettings = z.strictObject({
  model: ConfiguredModel.describe('model@provider; the path `/rerank` is added to the base_url of the provider'),
  candidates: z.int().min(2).max(100).default(20).describe('best hits of the search that it reads'),
  timeout_s: z.number().min(0.1).max(120).default(10).describe('seconds for a call; after that, hits keep the order of the search'),
});

/** A host as in the Host header, with or without its port. */
const AllowedHost = z
  .string()
  .regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(:\d{1,5})?$/)
  .meta({ expected: 'a host name or an address, without scheme and path; an IPv6 address in brackets' });

/** An origin as a browser writes it: no path, no final slash, no usual port. */
const PageOrigin = z
  .string()
  .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text)
  .meta({
    expected:
      'an origin as browsers send it, such as https://chat.example.org: scheme and host, with a port only if it is not the usual one',
  });

const AliasName = z.string().min(1).max(128);

/**
 * The schema of conclave.yaml. The parser, the JSON Schema for editors and the table in the docs come from it, so every field has a
 * description.
 */
export const Configuration = z.strictObject({
  providers: z.record(ProviderName, ProviderSettings).default({}).describe('model servers'),
  models: z
    .record(ConfiguredModel, ModelSettings)
    .default({})
    .describe('context and price of models; a model that is not listed works too'),
  templates: z.record(TemplateId, TemplateSettings).default({}).describe('what clients can choose as `model`'),
  waves: z
    .strictObject({
      enabled: z.boolean().default(true).describe('false: templates with `strategy: waves` are not offered and get no share of a split'),
    })
    .default({ enabled: true })
    .describe('kill switch of the strategy `waves`'),
  reasoning: ReasoningOptions.default(ReasoningOptions.parse({})).describe(
    'options of all templates with `strategy: reasoning`; options of the template itself take precedence',
  ),
  extensions: z
    .array(z.string().min(1))
    .default([])
    .describe('modules with strategies and capabilities of your own, relative to this file; every process of the system loads them'),
  extension_timeout_s: z
    .number()
    .min(0)
    .max(3_600)
    .default(10)
    .describe('seconds that a function of an extension may keep its process busy before it is stopped and fails; 0 = never'),
  aliases: z
    .record(AliasName, AliasTarget)
    .default({})
    .describe('other name -> template or model@provider, or several models of which one answers'),
  keys: z
    .record(ProviderName, ClientKeySettings)
    .default({})
    .describe('API keys of clients; absent: any key is accepted, but only from this machine'),
  access: z
    .enum(['keys', 'open'])
    .default('keys')
    .describe('who may ask from other machines: keys = clients with a key (without configured keys, only this machine); open = everyone'),
  allowed_hosts: z
    .array(AllowedHost)
    .default([])
    .describe('further host names accepted while no keys are configured, such as host.docker.internal; loopback names are always accepted'),
  cors_origins: z
    .array(PageOrigin)
    .default([])
    .describe('origins of web pages whose scripts may call this gateway (CORS), such as https://chat.example.org; absent: only its own'),
  webhooks: WebhookConfiguration.default({}).describe('receivers that are notified of the end of runs, by name'),
  webhook_delivery: WebhookDeliverySettings.default(WebhookDeliverySettings.parse({})).describe('how webhooks are called'),
  mcp: z
    .record(ProviderName, McpSettings)
    .default({})
    .describe('tool servers whose tools `mcp` tasks may use; `precision` is built in and used unless it has `enabled: false`'),
  search: z
    .strictObject({
      searxng: Address.optional().describe('address of a SearXNG server'),
      corpus: z
        .string()
        .min(1)
        .optional()
        .describe('folder of documents to search (text, Markdown, CSV, TSV, HTML, PDF, DOCX, XLSX, PPTX), relative to this file'),
      read_pages: z.int().min(0).max(5).default(0).describe('pages of the best hits that are read whole'),
      allow_hosts: z.array(z.string().min(1)).default([]).describe('private hosts whose pages may be read; all others are refused'),
    })
    .default({ read_pages: 0, allow_hosts: [] })
    .describe('where `research` looks: searxng or corpus'),
  retention_days: z
    .int()
    .min(1)
    .max(3_650)
    .default(defaultRetentionDays)
    .describe(
      'days for which the log keeps its records and the state store keeps their runs; during this time a run can be replayed and a dead letter re-driven',
    ),
  retention: z
    .record(z.string().min(1), z.int().min(1).max(3_650))
    .default({})
    .describe(
      'topic -> its own days, such as `audit: 90`; `tasks.dispatched` means the topics of all task classes. The audit is kept at least as long as the topics of the runs',
    ),
  stores: StoreSettings.default({}).describe('absent = embedded'),
  gateway: GatewaySettings.default(GatewaySettings.parse({})).describe('limits of the HTTP side'),
  task_classes: z
    .record(TaskClassName, TaskClassSettings)
    .default({})
    .describe('groups of workers; expert, evidence and judge are built in'),
  durability: z
    .enum(['process', 'power'])
    .default('process')
    .describe('embedded mode: what acknowledged data survives: the death of the process, or also a power cut'),
  embeddings: z
    .strictObject({ model: ConfiguredModel.optional().describe('embedding model; absent: the built-in embedder') })
    .default({})
    .describe('what turns texts into vectors'),
  rerank: z
    .strictObject({
      research: RerankSettings.optional().describe('for hits of `research`: documents of the folder, or the web'),
      collections: RerankSettings.optional().describe('for passages of uploaded documents'),
    })
    .default({})
    .describe('models that put search hits in order; absent: hits keep the order of the search'),
  math: z
    .strictObject({
      python: z
        .string()
        .min(1)
        .optional()
        .describe('a Python that has SymPy; if absent, or without SymPy: python3 if it has SymPy, otherwise the Compute Engine'),
      memory_mb: z.int().min(64).max(8_192).default(512).describe('memory of the calculating process'),
      seconds: z.number().min(0.1).max(120).default(10).describe('time of one calculation'),
    })
    .default({ memory_mb: 512, seconds: 10 })
    .describe('where symbolic mathematics is calculated'),
  skills: z.string().min(1).optional().describe('folder of approved skills, relative to this file'),
  repetition_limit: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(defaultRepetitionLimit)
    .describe(
      'characters of a reply that may repeat the same text before the call is ended and the text before it is used; numbers of a list do not count; text without words, such as a list of zeros, may go on eight times as long; 0 = never',
    ),
  store_prompts: z
    .enum(['full', 'hash', 'none'])
    .default('full')
    .describe('how the audit stores prompts and replies; `none` on a sealed log also destroys the key of each run at its end'),
});
export type Configuration = z.infer<typeof Configuration>;
