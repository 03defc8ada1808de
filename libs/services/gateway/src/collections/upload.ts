import { DocumentMetadata, DocumentName, DocumentRequest, Failure } from '@conclave/contracts';
import type { Request } from 'express';
import type * as z from 'zod';
import { collectBody, parseJsonObject } from '../http/json-body.js';
import { deepest, parseBody } from '../http/request-shape.js';

/** An uploaded document. */
export interface Upload {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Buffer;
  readonly metadata: DocumentMetadata;
}

/** Bytes allowed for names, form boundaries and metadata around a document. */
const aroundBytes = 64 * 1024;
/** Factor by which a text may grow as JSON: quotes and line ends take two bytes. */
const jsonFactor = 2;

/**
 * Reads a document from a request: a form with the field `file`, JSON with its text, or its bytes with the name in `x-document-name`.
 * Throws DOCUMENT_TOO_LARGE, MEDIA_TYPE_UNSUPPORTED, REQUEST_INVALID, REQUEST_NOT_JSON, CALL_CANCELLED.
 */
export async function readUpload(request: Request, maxBytes: number): Promise<Upload> {
  const declared = request.headers['content-type'] ?? '';
  const type = declared.split(';')[0]!.trim().toLowerCase();
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new Failure('MEDIA_TYPE_UNSUPPORTED', 'Send the document without Content-Encoding.');
  const isJson = type === 'application/json' && nameIn(request) === null;
  const isForm = type === 'multipart/form-data';
  const most = (isJson ? jsonFactor : 1) * maxBytes + aroundBytes;
  const body = await collectBody(request, most, most * 2);
  if (body === null) throw tooLarge(maxBytes);
  const plainOnly = 'x-document-metadata';
  if ((isJson || isForm) && (request.headers[plainOnly] ?? '') !== '')
    throw new Failure(
      'REQUEST_INVALID',
      `\`${plainOnly}\` is only read with a document that is sent as its bytes: put it into \`metadata\`.`,
      {
        param: plainOnly,
      },
    );
  const upload = isJson ? fromJson(body) : isForm ? await fromForm(body, declared) : plain(request, body, declared);
  if (upload.bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
  if (upload.bytes.byteLength === 0) throw new Failure('REQUEST_INVALID', 'The document is empty.');
  return upload;
}

const tooLarge = (maxBytes: number): Failure => new Failure('DOCUMENT_TOO_LARGE', `The limit is ${maxBytes} bytes.`);

function fromJson(body: Buffer): Upload {
  const { name, mime, text, metadata } = parseBody(DocumentRequest, parseJsonObject(body));
  return { name, mime: mime ?? '', bytes: Buffer.from(text), metadata: metadata ?? {} };
}

async function fromForm(body: Buffer, declared: string): Promise<Upload> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': declared } }).formData().catch((cause: unknown) => {
    throw new Failure('REQUEST_INVALID', 'The form cannot be read.', { cause });
  });
  const file = form.get('file');
  if (!(file instanceof File)) throw new Failure('REQUEST_INVALID', 'The form needs a file in the field `file`.', { param: 'file' });
  const name = form.get('name');
  return {
    name: checked(DocumentName, typeof name === 'string' ? name : file.name, 'name'),
    mime: file.type.slice(0, 200),
    bytes: Buffer.from(await file.arrayBuffer()),
    metadata: metadataIn(form.get('metadata'), 'metadata'),
  };
}

/** `x-document-name`; null when absent or empty. */
function nameIn({ headers }: Request): string | null {
  const named = headers['x-document-name'];
  return typeof named === 'string' && named.trim() !== '' ? named : null;
}

function plain(request: Request, bytes: Buffer, declared: string): Upload {
  const named = nameIn(request);
  if (named === null)
    throw new Failure('REQUEST_INVALID', 'Put the name of the document into the header `x-document-name`.', { param: 'x-document-name' });
  return {
    name: checked(DocumentName, decoded(named), 'x-document-name'),
    mime: declared.slice(0, 200),
    bytes,
    metadata: metadataIn(request.headers['x-document-metadata'], 'x-document-metadata'),
  };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a name with an unescaped percent sign
  }
}

/** Metadata as JSON, in a header or in a field of a form. */
function metadataIn(value: unknown, param: string): DocumentMetadata {
  if (typeof value !== 'string' || value.trim() === '') return {};
  let metadata: Record<string, unknown>;
  try {
    metadata = parseJsonObject(Buffer.from(value));
  } catch (cause) {
    throw new Failure('REQUEST_INVALID', `\`${param}\` must be a JSON object of texts, such as {"year": "2025"}.`, { param, cause });
  }
  return checked(DocumentMetadata, metadata, param);
}

function checked<S extends z.ZodType>(schema: S, value: unknown, param: string): z.infer<S> {
  const read = schema.safeParse(value);
  if (!read.success) throw new Failure('REQUEST_INVALID', `\`${param}\` ${deepest(read.error.issues[0]!).message}.`, { param });
  return read.data;
}
