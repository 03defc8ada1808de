/** Injection tokens, one per port. */
export const EVENT_LOG = Symbol('EventLog');
export const STATE = Symbol('StateStore');
export const RUN_STREAM = Symbol('RunStream');
export const BLOBS = Symbol('Blobs');
export const MODELS = Symbol('Models');
export const SEARCH = Symbol('Search');
export const GRAPH = Symbol('KnowledgeGraph');
export const VECTORS = Symbol('Vectors');
export const EMBEDDER = Symbol('Embedder');
export const RERANKINGS = Symbol('Rerankings');
export const TOOLS = Symbol('ToolServers');
export const PAGES = Symbol('PageReader');
export const DOCUMENTS = Symbol('DocumentReader');
export const WEBHOOKS = Symbol('WebhookSender');
export const SYMBOLIC = Symbol('Symbolic');
