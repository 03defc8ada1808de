export { describeBlobs } from './blobs/blobs.contract.js';
export { describeEventLog } from './event-log/event-log.contract.js';
export { type EventLogWorld, Stage } from './event-log/testing/event-log-world.js';
export { inputTopic, outputTopic, sampleInput, sampleName, sampleOutput } from './event-log/testing/sample-events.js';
export { describeSealKeys } from './event-log/seal-keys.contract.js';
export { describeRunStream } from './run-stream/run-stream.contract.js';
export {
  acceptance,
  counting,
  ending,
  namedOutput,
  nthInput,
  planning,
  sampleHeader,
  type Tally,
  timer,
} from './state/__fixtures__/samples.js';
export { listen, newName, newRunId, type StoreHarness, until } from './state/__fixtures__/store-harness.js';
export { describeRecovery, type RecoverableStore, type RecoveryHarness } from './state/recovery.contract.js';
export { callRecord, describePublished, stepRecord } from './state/published.contract.js';
export { describeStateStore } from './state/state.contract.js';
export { describeKnowledgeGraph } from './graph/graph.contract.js';
export { describeEmbedder } from './embeddings/embedder.contract.js';
export { describeReranker } from './rerank/reranker.contract.js';
export { describeVectors } from './vectors/vectors.contract.js';
export { describeToolServers, sampleTools } from './tools/tools.contract.js';
export { describeDocumentReader } from './documents/documents.contract.js';
export { describePageReader } from './pages/pages.contract.js';
export { valueOf } from './symbolic/value-of.js';
export { describeSymbolic } from './symbolic/symbolic.contract.js';
