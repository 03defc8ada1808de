export { describeRun } from './describe-run.js';
export { openGatewayApp, openTemplates, type GatewayAppOptions } from './gateway-app.js';
