export { openApiText } from '../openapi.js';
export { asyncApiText } from './async-api.js';
export { printDocs } from './print-docs.js';
