import { apiVersion } from '../api-version.js';
import { openApiText } from '../openapi.js';
import { asyncApiText } from './async-api.js';
import { accessTable, configurationSchema, configurationTable, eventTable, failureTable, flowDiagram } from './tables.js';

/** All of docs/generated that is printed from the contracts: path from the root of the repository -> text. */
export const printDocs = (): Readonly<Record<string, string>> => ({
  'docs/generated/asyncapi.json': asyncApiText(apiVersion),
  'docs/generated/openapi.json': openApiText(apiVersion),
  'docs/generated/events.md': eventTable(),
  'docs/generated/flow.md': flowDiagram(),
  'docs/generated/failures.md': failureTable(),
  'docs/generated/access.md': accessTable(),
  'docs/generated/configuration.md': configurationTable(),
  'docs/generated/conclave.schema.json': configurationSchema(),
});
