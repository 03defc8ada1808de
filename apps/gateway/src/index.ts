export { openGatewayApp, openTemplates, type GatewayAppOptions } from './gateway-app.js';
