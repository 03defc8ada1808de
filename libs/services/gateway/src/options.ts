import type { CallRecorded, Caller, KeyLimits, KeyRole, ModelChoice, RunView, Template, TemplateTuning } from '@conclave/contracts';
import type { ProviderAccess } from '@conclave/calls';
import type { AuditKey, Logger, Probe } from '@conclave/platform';
import type {
  Blobs,
  DocumentReader,
  Embedder,
  EventLog,
  KnowledgeGraph,
  Models,
  RemoteFiles,
  RunStream,
  StateStore,
  Tracer,
  Vectors,
  WebhookSender,
} from '@conclave/ports';

export type CacheName = 'exact' | 'semantic' | 'plan';

/** What a name in `model` resolves to, after aliases. */
export type Resolved =
  | { readonly kind: 'template'; readonly template: Template }
  | { readonly kind: 'model'; readonly ref: string }
  | ({ readonly kind: 'models' } & ModelChoice);

export interface DescribedModel {
  readonly id: string;
  /** `conclave` for templates and aliases, otherwise the name of the provider. */
  readonly ownedBy: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly description?: string;
  /** For a template: the strategy of its runs. */
  readonly strategy?: string;
  /** `embedding`: it makes vectors and cannot be used in a chat. Absent: it can. */
  readonly kind?: 'embedding';
}

/** A passage of a document that a query finds. */
export interface FoundPassage {
  readonly document: string;
  readonly title: string;
  /** Headings above it; empty without any. */
  readonly section: string;
  readonly text: string;
  /** Cosine distance to the query; null if only full text found it. */
  readonly distance: number | null;
}
/** Searches a collection as a run does. Throws VECTORS_UNAVAILABLE and what the embedder throws. */
export type PassageSearch = (
  wanted: {
    readonly tenant: string;
    readonly collection: string;
    readonly query: string;
    readonly limit: number;
    readonly filters: Readonly<Record<string, string>>;
  },
  signal: AbortSignal,
) => Promise<{ readonly passages: readonly FoundPassage[]; readonly unknownKeys: readonly string[] }>;

/** Templates, aliases and models by the names clients use. */
export interface TemplateSource {
  templates(): readonly Template[];
  resolve(modelName: string): Resolved | null;
  /** `model@provider` of a name that may be an embedding model, or several; null when no provider is known. */
  resolveEmbedding?(modelName: string): string | ModelChoice | null;
  /** Waits for a bounded time until the templates include settings changed two seconds ago or earlier. */
  upToDate?(): Promise<void>;
  /** Reads the templates again, with the current settings. */
  refresh?(): Promise<void>;
  /** The reasons against a change of a template, with the current models and providers. Absent: nothing is known of them. */
  tuningFaults?(
    id: string,
    strategy: string,
    tuning: TemplateTuning,
  ): Promise<readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]>;
  /** Models that a template can use now. */
  modelsFor?(id: string): Promise<readonly string[]>;
  /** Why no model can serve an existing template yet, checked again; null for every other name. */
  waitsFor(modelName: string): Promise<string | null>;
  /** Every name a client may use, templates first. May be slow while a provider is down; the gateway then lists only the templates. */
  describeModels(): readonly DescribedModel[] | Promise<readonly DescribedModel[]>;
}

/** The owner of a key and the key's rights. */
export interface KeyOwner extends Caller {
  /** Name of the key, shown in the audit of its changes. */
  readonly name: string;
  readonly role: KeyRole;
  /** `full`: the key may see prompts and raw replies, and its runs keep them by default. Absent: redacted. */
  readonly detail?: 'redacted' | 'full';
  /** Identifies the key in counts and limits: it stays the same when the value is rotated. */
  readonly keyId: string;
  /** Absent: no limits. */
  readonly limits?: KeyLimits;
  /** Limits of each end user whom its requests name. Absent: none. */
  readonly userLimits?: KeyLimits;
  /** Limits of all keys of its tenant together. Absent: no limits. */
  readonly tenantLimits?: KeyLimits;
  /** Ids that the key may use: templates, and `model@provider`. Absent: all. */
  readonly templates?: readonly string[];
}

/** Configured API keys. */
export interface ApiKeys {
  /** The owner of this key; null for an unknown or missing key. Throws STORE_UNAVAILABLE when the lookup fails. */
  identify(key: string | null): Promise<KeyOwner | null>;
  /** As `identify`, for the key with this SHA-256 in hexadecimal digits. */
  identifyHash(hash: string): Promise<KeyOwner | null>;
}

/** A consumer of this process, for readiness. */
export interface ConsumerHealth {
  readonly group: string;
  health(): string | null;
}

/** The other name of the built-in embedder, which stays when the embedder changes. */
export const ownEmbedding = 'conclave-embedding';

export type StreamKind = 'chat' | 'direct' | 'events';
export type StreamEnd = 'finished' | 'disconnected' | 'slow' | 'shutdown' | 'failed';

/** What the gateway reports; the platform maps it to its metrics. Every label is bounded. */
export interface GatewayMetrics {
  onRequest(request: {
    readonly method: string;
    /** path of the route table, or `other` */ readonly route: string;
    readonly status: number;
    readonly ms: number;
  }): void;
  onAccepted(run: { readonly template: string; readonly origin: 'chat' | 'runs' }): void;
  onRefused(code: string): void;
  onAttached(origin: 'chat' | 'runs'): void;
  onStreamOpen(kind: StreamKind): void;
  onStreamClose(kind: StreamKind, end: StreamEnd): void;
  /** Milliseconds from the request to the first content of its answer. */
  onFirstContent(kind: StreamKind, ms: number): void;
  onCancel(reason: 'disconnect' | 'command'): void;
  /** A run is parked: it waits for its client to come back. */
  onParked(): void;
  /** A call to a model outside a run. */
  onCall(call: CallRecorded): void;
  onCache(lookup: { readonly cache: CacheName; readonly result: 'hit' | 'miss' | 'failed' }): void;
}

export interface GatewayLimits {
  /** Bytes of a request body. */
  readonly maxBodyBytes: number;
  readonly maxMessages: number;
  /** Bytes of an uploaded document, documents that may arrive at the same time, and documents that may wait. */
  readonly maxDocumentBytes: number;
  readonly maxUploads: number;
  /** Bytes of documents, images and files that one tenant may upload within 30 days. */
  readonly maxTenantUploadBytes: number;
  readonly maxWaitingUploads: number;
  /** Images and files of one question, and their decoded bytes in total; they do not count towards the body. */
  readonly maxAttachments: number;
  readonly maxAttachmentBytes: number;
  /** Texts in one request for embeddings. */
  readonly maxEmbeddingTexts: number;
  /** Most open runs over all gateways. */
  readonly openRuns: number;
  /** Milliseconds that tasks may wait for a worker before new runs are refused; 0 = no limit. */
  readonly maxQueueWaitMs: number;
  /** Most open calls to direct models (`model@provider`) in this process. */
  readonly directCalls: number;
  /** Most event streams that one key may have open in this process. */
  readonly eventStreams: number;
  /** Milliseconds of silence before the first heartbeat of a stream, and before every later one. */
  readonly firstHeartbeatMs: number;
  readonly heartbeatMs: number;
  /** Whether white space is sent while a JSON answer is pending, unless its request sets it. */
  readonly keepAliveJson: boolean;
  /** Milliseconds a client may leave written bytes unread before it is disconnected. */
  readonly slowClientMs: number;
  /** Milliseconds between two polls of a run, in case hints are lost. */
  readonly pollMs: number;
  /** Milliseconds the head of a stream waits for the log; after that the event is published later. */
  readonly publishMs: number;
  /** Milliseconds that the head of a request may take to arrive, and its body; a body gets one more second for each 16 KB. */
  readonly requestTimeoutMs: number;
  /** Milliseconds a direct model may take. */
  readonly directTimeoutMs: number;
  /** Milliseconds a direct stream waits for the first token or a failure before its head goes out. */
  readonly directHeadMs: number;
  /** Milliseconds `GET /v1/models` waits for the list of the providers. */
  readonly modelListMs: number;
  /** Seconds in Retry-After; at most 60, which clients respect. */
  readonly retryAfterS: number;
  /** Milliseconds for which issued API keys stay valid while they cannot be looked up. */
  readonly keysWithoutStoreMs: number;
  /** Most issued API keys, including revoked and expired ones. */
  readonly maxIssuedKeys: number;
  /** Milliseconds for which revoked API keys are stored. */
  readonly revokedKeysMs: number;
  /** Milliseconds after which a signed-in page has to sign in again: without a request, and in total. */
  readonly sessionIdleMs: number;
  readonly sessionMs: number;
  /** Tokens to reserve for a template or model whose use is not known yet. */
  readonly reserveTokens: number;
  /** Milliseconds after which a reservation expires if it is not renewed, because its gateway is gone. */
  readonly reservationLeaseMs: number;
  /** Milliseconds a health answer may be reused. */
  readonly healthCacheMs: number;
  /** Milliseconds shutdown waits for streams to send their last events. */
  readonly shutdownGraceMs: number;
}

export const defaultLimits: GatewayLimits = {
  maxBodyBytes: 1024 * 1024,
  maxMessages: 2000,
  maxDocumentBytes: 20 * 1024 * 1024,
  maxUploads: 4,
  maxTenantUploadBytes: 2 * 1024 * 1024 * 1024,
  maxWaitingUploads: 1_000,
  maxAttachments: 8,
  maxAttachmentBytes: 10 * 1024 * 1024,
  maxEmbeddingTexts: 2_048,
  openRuns: 200,
  maxQueueWaitMs: 0,
  directCalls: 256,
  eventStreams: 1_000,
  firstHeartbeatMs: 10_000,
  heartbeatMs: 15_000,
  keepAliveJson: false,
  slowClientMs: 30_000,
  pollMs: 1_000,
  publishMs: 2_000,
  requestTimeoutMs: 30_000,
  directTimeoutMs: 900_000,
  directHeadMs: 1_000,
  modelListMs: 3_000,
  retryAfterS: 5,
  keysWithoutStoreMs: 300_000,
  maxIssuedKeys: 10_000,
  revokedKeysMs: 90 * 86_400_000,
  sessionIdleMs: 8 * 3_600_000,
  sessionMs: 7 * 24 * 3_600_000,
  reserveTokens: 4_000,
  reservationLeaseMs: 40_000,
  healthCacheMs: 500,
  shutdownGraceMs: 5_000,
};

export interface GatewayOptions {
  readonly catalogue: TemplateSource;
  readonly log: EventLog;
  readonly state: StateStore;
  readonly stream: RunStream;
  readonly models: Models;
  /** The checks that a call to a model outside a run passes first. */
  readonly providers: ProviderAccess;
  /** Stores for collections and the semantic cache; without them uploads are refused and only the exact cache answers. */
  readonly blobs?: Blobs;
  /** Reads files attached to a question; absent or null if this process reads none. */
  readonly documents?: DocumentReader | null;
  /** Fetches images given by address, so that model servers do not. Absent: such images are refused. */
  readonly remoteFiles?: RemoteFiles;
  readonly vectors?: Vectors | null;
  readonly embedder?: Embedder | null;
  /**
   * Mark of the folder of documents that runs search; it changes with the folder. Absent if this process does not have the folder: then cached
   * answers may be older than a changed document.
   */
  readonly contents?: () => Promise<string>;
  /** Absent: queries cannot be tried. */
  readonly passages?: PassageSearch;
  /** Absent: the operator configured none. */
  readonly webhooks?: {
    /** Webhook -> tenants that may use it; null = all. */
    readonly tenants: Readonly<Record<string, readonly string[] | null>>;
    /** Checks webhook addresses sent by clients; null if none is allowed. */
    readonly sender: Pick<WebhookSender, 'check'> | null;
  };
  /** Absent or null if this process cannot reach one. */
  readonly graph?: KnowledgeGraph | null;
  /** Folder of skills; each skill in it counts as approved. */
  readonly skillFolder?: string | null;
  /** Folder of the built web console. Absent, null or without its manifest: the page at / is plain text. */
  readonly consoleFolder?: string | null;
  /** Topics of this installation, without prefix, to which a dead letter may be re-driven. Absent: any. */
  readonly topics?: readonly string[];
  readonly limits?: Partial<GatewayLimits>;
  /** Every request needs one of these keys. Null: any key, or none, is accepted, as tenant `default`. */
  readonly keys: ApiKeys | null;
  /** Rules for hosts while keys are not required, and for pages of other origins. */
  readonly access?: {
    /** Keys that are recognised even when keys are not required, such as the admin's. */
    readonly known: ApiKeys;
    /** Hosts, besides the loopback names, by which clients may address this gateway. */
    readonly allowedHosts: readonly string[];
    /** Origins of pages that may call this gateway, with and without keys. */
    readonly origins?: readonly string[];
    /** Whether other machines have access. */
    readonly open: boolean;
    /** Addresses of proxies whose `x-forwarded-proto` is trusted; absent: none. */
    readonly trustedProxies?: readonly string[];
  };
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  /** A readable view of a run, from the engine's stored state. Pure. */
  readonly describeRun: (state: unknown) => RunView;
  /** Consumers of this process; readiness is red when one of them is. */
  readonly consumers?: () => readonly ConsumerHealth[];
  /** Sentences about everything else that keeps this process from being ready. */
  readonly problems?: () => Promise<readonly string[]>;
  /** Opens the server at an address for a test, without a key; the caller closes it. Absent: addresses cannot be tested. */
  readonly openTrial?: (baseUrl: string) => Promise<Models>;
  /** Providers named in the configuration or the environment. */
  readonly configuredProviders?: readonly string[];
  /** Version of the product, id of this process, and consumer groups of the system, for the page about services. */
  readonly version?: string;
  readonly processId?: string;
  readonly groups?: readonly string[];
  /** JSON texts of GET /openapi.json and GET /asyncapi.json, created on the first request. */
  readonly openApi: () => Promise<string>;
  readonly asyncApi: () => Promise<string>;
  /** The longest time that the log keeps a record of a run, in milliseconds. */
  readonly logMs?: number;
  /** Opens the key that signs exported audits, and creates it at the first export. Absent: no audits are exported. Throws CONFIGURATION_INVALID. */
  readonly auditKey?: () => AuditKey;
  /** Whether the audit of direct calls keeps messages and replies; default false. */
  readonly recordPrompts?: boolean;
  /** Characters of the streamed reply of a direct call that may repeat the same text before the call is ended; 0 or absent: any number. */
  readonly repetitionLimit?: number;
  readonly probe?: Probe;
  /** Records requests as spans; absent or null without tracing. */
  readonly tracer?: Tracer | null;
  /** Creates the id of a run when its request does not determine it; random by default. For tests that repeat a run exactly. */
  readonly newRunId?: () => string;
}

export const GATEWAY_OPTIONS = Symbol('GatewayOptions');
export const GATEWAY_LIMITS = Symbol('GatewayLimits');

/** Limits with every default filled in. */
export const limitsOf = (options: GatewayOptions): GatewayLimits => ({ ...defaultLimits, ...options.limits });
