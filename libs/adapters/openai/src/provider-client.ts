import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { JsonObject } from '@conclave/ports';
import type { ProviderConfig } from './configuration.js';
import { errorIn, firstBytes, type UpstreamError } from './error-body.js';
import { contentOf, smallRequest } from './small-request.js';

/** A server answered with an error: by its status, or, with status null, inside a reply that began well. */
export class ErrorReply extends Error {
  constructor(
    readonly status: number | null,
    readonly said: UpstreamError,
    readonly headers: IncomingHttpHeaders = {},
  ) {
    super(status === null ? 'The reply contains an error.' : `The server answered with status ${status}.`);
  }
}

/** A reply whose head has arrived. */
export interface ProviderReply {
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Paths that contain the model, called a deployment, in Azure's older form. */
const ofDeployments = new Set(['chat/completions', 'completions', 'embeddings']);

/**
 * POST of a JSON body to a path of the provider, without redirects, so that a key never reaches another server. Imports the HTTP client late,
 * for a faster start. Throws ErrorReply for every status other than 2xx, and the error of the connection.
 */
export async function post(provider: ProviderConfig, path: string, body: JsonObject, signal: AbortSignal): Promise<ProviderReply> {
  const { send } = await import('./connections.js');
  const deployment =
    provider.azure_api_version !== undefined && ofDeployments.has(path) ? `deployments/${encodeURIComponent(String(body['model']))}/` : '';
  const answered = await send(addressOf(provider, `${deployment}${path}`), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf(provider) },
    body: JSON.stringify(body),
    signal,
  });
  const { statusCode, headers } = answered;
  const reply = plain(answered.body, headers);
  if (statusCode < 200 || statusCode > 299) throw new ErrorReply(statusCode, errorIn(await firstBytes(reply)), headers);
  return { headers, body: reply };
}

/**
 * GET of a path that is not a model call; returns JSON, or the text of anything else. Uses the client of Node's core, so that a start does
 * not load another one. Throws what `post` throws.
 */
export async function readBeside(provider: ProviderConfig, path: string, signal: AbortSignal): Promise<unknown> {
  const reply = await smallRequest(addressOf(provider, path), { headers: headersOf(provider), signal });
  if (reply.ok) return contentOf(reply.headers, reply.text);
  throw new ErrorReply(reply.status, errorIn(reply.text), reply.headers);
}

const decoders: Readonly<Record<string, () => Transform>> = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress };

/** We ask for no compression, but some proxies compress all the same. */
function plain(reply: Readable, headers: IncomingHttpHeaders): AsyncIterable<Uint8Array> {
  const decoder = decoders[headers['content-encoding']?.toLowerCase() ?? '']?.();
  // The reader of the decoder gets the error of either.
  return decoder ? pipeline(reply, decoder, () => undefined) : reply;
}

function addressOf({ base_url, azure_api_version: version }: ProviderConfig, path: string): URL {
  const url = new URL(`${base_url.replace(/\/$/, '')}/${path}`);
  if (version !== undefined) url.searchParams.set('api-version', version);
  return url;
}

function headersOf({ api_key, azure_api_version: version, headers = {} }: ProviderConfig): Record<string, string> {
  const key: Record<string, string> =
    api_key === undefined ? {} : version === undefined ? { authorization: `Bearer ${api_key}` } : { 'api-key': api_key };
  const configured = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { accept: 'application/json', 'user-agent': 'conclave', ...key, ...Object.fromEntries(configured) };
}
