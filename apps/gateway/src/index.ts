export { openGatewayApp, openTemplates, type GatewayAppOptions } from './gateway-app.js';
export { openDoors, type Doors } from './doors.js';
export { readKeyFile, type KeyFile } from './key-file.js';
