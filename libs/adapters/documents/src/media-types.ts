import { endingOf, isCode, textTypes } from '@conclave/ports/passages';

export type DocumentKind = 'html' | 'pdf' | 'text' | 'docx' | 'xlsx' | 'pptx';

export interface MediaType {
  /** Media type as which the document is read, without parameters. */
  readonly mime: string;
  readonly kind: DocumentKind;
  readonly charset: string | null;
}

const office = 'application/vnd.openxmlformats-officedocument';
const docx = `${office}.wordprocessingml.document`;
const xlsx = `${office}.spreadsheetml.sheet`;
const pptx = `${office}.presentationml.presentation`;

const kinds: Readonly<Record<string, MediaType['kind']>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/pdf': 'pdf',
  'application/x-pdf': 'pdf',
  'text/plain': 'text',
  'text/markdown': 'text',
  'text/x-markdown': 'text',
  'text/csv': 'text',
  'text/tab-separated-values': 'text',
  'application/json': 'text',
  ...Object.fromEntries(
    'text/x-rst text/prs.fallenstein.rst text/asciidoc text/x-asciidoc text/org text/x-org text/x-tex application/x-tex text/vtt application/x-subrip'
      .split(' ')
      .map((type) => [type, 'text' as const]),
  ),
  [docx]: 'docx',
  [xlsx]: 'xlsx',
  [pptx]: 'pptx',
};
const standard: Readonly<Record<string, string>> = { 'text/x-markdown': 'text/markdown', 'application/x-pdf': 'application/pdf' };
const endings: Readonly<Record<string, string>> = {
  ...textTypes,
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'application/xhtml+xml',
  pdf: 'application/pdf',
  docx,
  xlsx,
  pptx,
};
/** Declared media types that carry no information. */
const silent: ReadonlySet<string> = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/download',
  'application/zip',
  'application/x-zip-compressed',
]);

/**
 * The type as which a document is read: by its declared media type, else by the extension of its name, else by its first bytes. Bytes that
 * begin like a PDF are read as a PDF whatever known type is declared. Null if documents of the type are not read.
 */
export function mediaTypeOf(declared: string, name: string, bytes: Uint8Array): MediaType | null {
  const mime = declared.split(';')[0]!.trim().toLowerCase();
  const charset = /;\s*charset\s*=\s*"?([A-Za-z0-9:_.-]{1,40})/i.exec(declared)?.[1]?.toLowerCase() ?? null;
  const ending = endingOf(name);
  // Source code has no agreed types, and `.ts` is also that of a film.
  const told = silent.has(mime) || (isCode(name) && !(mime in kinds)) ? (endings[ending] ?? bySight(bytes)) : mime;
  // Editors send Markdown as plain text.
  const meant = told === 'text/plain' && endings[ending] === 'text/markdown' ? 'text/markdown' : told;
  const isPdf = startsWithPdf(bytes);
  const type = isPdf && meant !== null && meant in kinds ? 'application/pdf' : meant;
  const kind = type === null ? undefined : kinds[type];
  return type === null || kind === undefined ? null : { mime: standard[type] ?? type, kind, charset };
}

const startsWithPdf = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-';

function bySight(bytes: Uint8Array): string | null {
  if (startsWithPdf(bytes)) return 'application/pdf';
  const head = Buffer.from(bytes.subarray(0, 512)).toString('latin1').trimStart().toLowerCase();
  return /^(?:<!doctype html|<html|<head|<body)/.test(head) ? 'text/html' : null;
}
