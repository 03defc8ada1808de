export { type BlobRef, type Blobs, blobThresholdBytes } from './blobs/blobs.js';
export { MemoryBlobs } from './blobs/memory-blobs.js';
export { connectionWords } from './connections/connection-words.js';
export {
  answersPurpose,
  collectionOf,
  documentsCollection,
  type Embedder,
  type EmbedOptions,
  factsPurpose,
  resultsPurpose,
  toUnitLength,
} from './embeddings/embedder.js';
export type { DocumentReader, DocumentToRead, ReadDocument } from './documents/documents.js';
export { MemoryDocuments } from './documents/memory-documents.js';
export { type Clock, systemClock } from './event-log/clock.js';
export { DeadLetters, type LetterDecision, type LetterFilter } from './event-log/dead-letters.js';
export { SuspectTurns, suspectsHeldMs } from './event-log/suspect-turns.js';
export { DeliveryPool, type DeliveryPoolOptions, type PoolChange } from './event-log/delivery-pool.js';
export {
  type Consumption,
  type ConsumptionLoad,
  defer,
  type Delivery,
  type DeliveryHooks,
  type DeliveryKey,
  type DeliveryLedger,
  type ErasedDelivery,
  type EventLog,
  type HandlerOutcome,
  isDeferred,
  type Lag,
  nothingLeft,
  type ReadRange,
  type RetryPolicy,
  type StoreMark,
  type Subscription,
} from './event-log/event-log.js';
export type { DeadHeaders, DeadReason, StoredRecord } from './event-log/record.js';
export { MemoryDeliveries } from './event-log/memory-ledger.js';
export { MemoryBroker, MemoryLog } from './event-log/memory-log.js';
export {
  bodyOf,
  type DeadRecord,
  deadRecord,
  type EncodedRecord,
  encodeEvent,
  encodeEventNow,
  erasedHeader,
  erasedRecord,
  isErased,
  type Headers,
  type OutgoingRecord,
  type RawRecord,
  recordName,
  sealedHeader,
  storedRecord,
} from './event-log/record.js';
export { backoff } from './event-log/retry.js';
export type { Span, SpanAttributes, SpanReference, Tracer } from './traces/tracer.js';
export { normaliseEntity } from './graph/entity-name.js';
export { neighboursThrough } from './graph/explore.js';
export { type EntityCandidate, type GraphReading, retrieveThrough } from './graph/graph-context.js';
export type {
  GraphContext,
  GraphQuery,
  GraphStats,
  KnowledgeGraph,
  QuarantinedTriple,
  SynthesisKey,
  SynthesisRecord,
  SynthesisWrite,
  Triple,
  TriplesAdded,
  TripleWrite,
} from './graph/graph.js';
export { getLocked, type LockedRef, putLocked } from './blobs/locked-body.js';
export { type ForgetPlan, planForgetting } from './graph/forgetting.js';
export { MemoryGraphStore } from './graph/memory-graph.js';
export type {
  EntityNode,
  EntityQuery,
  LinkedSynthesis,
  NamedRelation,
  Neighbourhood,
  NeighbourQuery,
  StoredRelation,
  SynthesisNode,
} from './graph/nodes.js';
export { byTime, originOf, sourcesIn, sourcesText } from './graph/synthesis-origin.js';
export {
  type EntityWrite,
  functionalTypes,
  namedEntities,
  planDecision,
  planTriples,
  rated,
  type Ratings,
  touchedBy,
} from './graph/triple-policy.js';
export { isFlagged, synthesisTrust } from './graph/trust.js';
export type {
  CallMessage,
  CallWatch,
  CallContentPart,
  ModelCall,
  ModelInfo,
  EmbeddingCall,
  EmbeddingInput,
  EmbeddingReply,
  ModelReply,
  Models,
  PassedReply,
  PassedRequest,
  PassWatch,
  ProviderStatus,
} from './model/model.js';
export { providerNameOf } from './model/model.js';
export { contentText, isInstruction, leadingInstructions } from './model/instructions.js';
export { asksForUsage, chunksOf, passOver } from './model/passing.js';
export { signedId, thoughtSignatureOf, unsignedId, withoutSignatures } from './model/signed-calls.js';
export { MemoryPages } from './pages/memory-pages.js';
export type { Page, PageReader, PageRequest } from './pages/pages.js';
export type { RemoteFiles } from './pages/remote-files.js';
export type { WebhookPost, WebhookSender } from './pages/webhook-sender.js';
export { firstCharacters, noticesAbout, visibleText } from './pages/visible-text.js';
export { waitAskedFor } from './retry-after.js';
export { planAppend, progressIn, type TaskProgress } from './run-stream/appending.js';
export type { RunStream, StreamPage } from './run-stream/run-stream.js';
export { namedFirst, namesTitle } from './search/named-title.js';
export type { Search, SearchHit } from './search/search.js';
export {
  admit,
  type Admission,
  breakerNonces,
  type Breakers,
  type BreakerSettings,
  type BreakerState,
  type CallHealth,
  defaultBreaker,
  type HeldBreaker,
  phaseOf,
  settle,
} from './state/breaker.js';
export { MemoryReranker } from './rerank/memory-reranker.js';
export type { Reranker, Reranking, Rerankings } from './rerank/reranker.js';
export { type CacheClaim, type CacheEntry, type Caches, type CacheWrite, storedEntry, wholeMs } from './state/caches.js';
export {
  acceptedStatus,
  erasedStatus,
  busyRetryMs,
  cacheValueBytes,
  commitAttempts,
  defaultTtl,
  leaseRenewMs,
  leaseTtlMs,
  awayOwner,
  parkedFlag,
  stopHint,
  settingVersions,
  type StoreTtl,
} from './state/limits.js';
export { forgettable } from './state/forgettable.js';
export { MemoryLeases } from './state/memory-leases.js';
export { loadChannel, type LoadReport, readLoadReport } from './state/load.js';
export {
  amountOf,
  hasBudget,
  headroomsOf,
  isLimited,
  minuteSeconds,
  refusalOf,
  roomOf,
  type AccountUse,
  type Allowances,
  type Amount,
  type Headroom,
  type Headrooms,
  type LimitedAccount,
  type LimitRefusal,
  type Reservation,
  type Reserved,
  type Settlement,
} from './state/allowances.js';
export { MemoryAllowances, type ReadLedger } from './state/memory-allowances.js';
export { MemoryBreakers } from './state/memory-breakers.js';
export { MemoryClaims } from './state/memory-claims.js';
export { MemoryStores } from './state/memory-stores.js';
export type { Once, OnceClaim } from './state/once.js';
export {
  type Above,
  aboveLost,
  markAfterRecovery,
  recoveriesOf,
  type Recovery,
  type RestoredCall,
  type RestoredRun,
} from './state/recovery.js';
export { byCategoryAndModel, type CategoryScore, type Score, type ScoreChange, type Scores, summedUpdates } from './state/scores.js';
export { documentsChanged, documentsChangedKey, documentsChangedSince, documentsTag } from './state/documents-changed.js';
export type { Settings, SettingVersion } from './state/settings.js';
export type {
  AcceptRequest,
  AcceptResult,
  BeginResult,
  CallOutcome,
  Committed,
  DueTimer,
  ErasedRun,
  Folding,
  Hints,
  Journal,
  JournalCall,
  RecordedCall,
  Leases,
  Runs,
  RunSummary,
  SlotPlace,
  SlotRequest,
  StateStore,
  Step,
  StepTime,
  StoredRun,
  Timers,
  TimerToArm,
} from './state/state.js';
export {
  type AccountPeriod,
  accountMs,
  daysFrom,
  daysOf,
  isPaid,
  type Paid,
  type PaidCall,
  paidCallOf,
  type UsageItem,
  type UsageLedger,
  type UsagePeriod,
} from './state/usage-ledger.js';
export {
  type Symbolic,
  type SymbolicArgs,
  type SymbolicOperation,
  symbolicOperationOf,
  symbolicOperations,
  type SymbolicRequest,
  type SymbolicResult,
} from './symbolic/symbolic.js';
export {
  BLOBS,
  DOCUMENTS,
  EMBEDDER,
  EVENT_LOG,
  GRAPH,
  MODELS,
  PAGES,
  RERANKINGS,
  RUN_STREAM,
  SEARCH,
  STATE,
  SYMBOLIC,
  WEBHOOKS,
  TOOLS,
  VECTORS,
} from './tokens.js';
export { MemorySealKeys } from './event-log/memory-seal-keys.js';
export { destroyedKey, RunSeals, masterKeysOf, type SealKeys, type Seals } from './event-log/seals.js';
export { forgetErasedRun, forgetRun } from './vectors/learned-of-run.js';
export { MemoryVectorStore } from './vectors/memory-vectors.js';
export { queryWords } from './vectors/query-words.js';
export {
  byDistance,
  checkChoice,
  checkChoices,
  checkDimension,
  checkedRecords,
  checkIds,
  checkMetadata,
  checkScope,
  checkTenant,
  checkVector,
  clampDistance,
  collectionMissing,
  cosineDistance,
  hitLimit,
  metadataOf,
  metadataText,
  metadataTexts,
  otherDimension,
  wellFormed,
} from './vectors/records.js';
export { fieldWeights, indexedText, TextIndex } from './vectors/text-index.js';
export type {
  TextAnswer,
  TextHit,
  TextQuery,
  VectorAnswer,
  VectorChoice,
  VectorChoices,
  VectorCollection,
  VectorHit,
  VectorMetadata,
  VectorQuery,
  VectorRecord,
  Vectors,
  VectorScope,
} from './vectors/vectors.js';
export { growthRefusal } from './growth-refusals.js';
export { makeFolder } from './make-folder.js';
export { boundedRun, tookTooLong } from './tools/bounded-run.js';
export { type MemoryTool, MemoryToolServers } from './tools/memory-tools.js';
export { toolCalled } from './tools/tool-names.js';
export { isJsonObject, signatureOf } from './tools/tool-signature.js';
export { boundedText, oneLine } from './tools/tool-text.js';
export {
  type JsonObject,
  longestToolContent,
  longestToolDescription,
  type ToolDescription,
  type ToolReply,
  mayHaveRun,
  notCalled,
  type ToolServers,
  type ToolServerStatus,
} from './tools/tools.js';
