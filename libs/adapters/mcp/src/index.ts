export { usualBounds, type ServerBounds } from './bounds.js';
export type { BuiltinServer, ConfiguredServers } from './launch-plan.js';
export { openToolServers, type ToolServersOptions } from './open-tool-servers.js';
