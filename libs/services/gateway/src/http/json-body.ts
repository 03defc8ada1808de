import { Failure } from '@conclave/contracts';
import type { Request } from 'express';
import { bodyCharacters } from '../attachments/content-parts.js';
import { assertSimple } from './json-shape.js';

/** A body that exceeds the limit by more than this factor is not read to its end: the connection is closed instead. */
const drainFactor = 16;

export interface JsonBody {
  readonly value: Record<string, unknown>;
  /** The bytes as received, to recognise repeats. */
  readonly raw: Buffer;
}

/**
 * Reads a JSON object. A body that is too large is read to its end and discarded: a client that is still sending would otherwise see a closed
 * connection instead of the answer. `attachmentBytes`: decoded bytes of images and files allowed in addition. Throws MEDIA_TYPE_UNSUPPORTED,
 * REQUEST_TOO_LARGE, REQUEST_TOO_COMPLEX, REQUEST_NOT_JSON, CALL_CANCELLED (the client disconnected while sending).
 */
export async function readJsonBody(request: Request, maxBytes: number, attachmentBytes = 0): Promise<JsonBody> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  const readable = type === 'application/json' || type.endsWith('+json');
  const encoding = request.headers['content-encoding'];
  const encoded = Math.ceil(attachmentBytes / 3) * 4;
  const raw = await collectBody(request, readable ? maxBytes + encoded : 0, maxBytes * drainFactor + encoded);
  if (!readable) throw new Failure('MEDIA_TYPE_UNSUPPORTED', type === '' ? 'The request named no content type.' : undefined);
  if (encoding !== undefined && encoding !== 'identity')
    throw new Failure('MEDIA_TYPE_UNSUPPORTED', 'Send the body without Content-Encoding.');
  if (raw === null) throw tooLarge(maxBytes, attachmentBytes);
  const value = parseJsonObject(raw);
  if (raw.length > maxBytes && raw.length - bodyCharacters(value) > maxBytes) throw tooLarge(maxBytes, attachmentBytes);
  return { value, raw };
}

const tooLarge = (maxBytes: number, attachmentBytes: number): Failure =>
  new Failure(
    'REQUEST_TOO_LARGE',
    attachmentBytes === 0
      ? `The limit is ${maxBytes} bytes.`
      : `The limit is ${maxBytes} bytes, and ${attachmentBytes} for images and files (\`gateway.max_attachment_bytes\`).`,
  );

/** Returns the whole body, or null when it is longer than `keep`; stops reading beyond `most`. Throws CALL_CANCELLED. */
export function collectBody(request: Request, keep: number, most: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (): void => {
      request.off('data', take).off('end', ended).off('error', left).off('close', left);
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= keep) chunks.push(chunk);
      else chunks.length = 0;
      if (bytes <= most) return;
      stop();
      request.pause();
      resolve(null);
    };
    const ended = (): void => {
      stop();
      resolve(bytes > keep ? null : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    };
    const left = (cause?: unknown): void => {
      stop();
      reject(new Failure('CALL_CANCELLED', 'The client disconnected while it was sending.', { cause }));
    };
    if (request.destroyed || request.readableEnded) return left();
    request.on('data', take).on('end', ended).on('error', left).on('close', left);
  });
}

/** Throws REQUEST_NOT_JSON, REQUEST_TOO_COMPLEX. */
export function parseJsonObject(raw: Buffer): Record<string, unknown> {
  assertSimple(raw);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw));
  } catch (cause) {
    // The parser quotes the text around the error; prompts must not leak into errors, so only the position is kept.
    const position = /position (\d+)/.exec(cause instanceof Error ? cause.message : '')?.[1];
    throw new Failure(
      'REQUEST_NOT_JSON',
      raw.length === 0 ? 'The body is empty.' : position ? `The mistake is at byte ${position}.` : undefined,
    );
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Failure('REQUEST_NOT_JSON', 'The body is JSON, but not an object.');
  return value as Record<string, unknown>;
}
