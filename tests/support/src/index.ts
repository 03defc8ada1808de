export { watchSignals } from './crowded-signals.js';
export { HistoryWriter, openOperations, readHistory, type HistoryEntry, type HistoryPhase } from './history.js';
export { ScriptedModelServer, type ServedCall, type ScriptedModelServerOptions } from './model-server/scripted-model-server.js';
export type { Match, ScriptedChunk, ScriptedReply, ScriptedRequest, ScriptedStep, ScriptedUsage } from './model-server/script.js';
export { Supervised, type Exit, type SupervisedOptions } from './supervisor.js';
export { TcpProxy, type TcpProxyOptions, type Toxics } from './tcp-proxy.js';
export { startTinyModel, tinyModelName, type TinyModelOptions } from './tiny-model/tiny-model-server.js';
export { type ReceivedSpan, TraceReceiver } from './trace-receiver.js';
export { until } from './until.js';
