import sax, { type SAXOptions } from 'sax';
import { invalid, tooLarge } from '../refusal.js';

/** The content of a document, in order. Text may arrive in several parts. */
export interface XmlHandler {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(data: string): void;
}

const deepest = 200;
/** The type declarations of sax lack this option, which refuses entities of HTML. */
const options: SAXOptions & { strictEntities: boolean } = { strictEntities: true };
/** The parser checks the lengths of names, attributes and declarations between two writes; its own limit is the same. */
const writtenAtOnce = 64 * 1024;

/**
 * Reads a document from front to back in one pass. Knows the five entities of XML and character numbers; refuses a document type with an
 * internal subset, so there is nothing to expand, and fetches nothing that an external one names. Throws INVALID_ARGUMENT for malformed
 * documents, LIMIT_EXCEEDED for nesting that is too deep.
 */
export function readXml(source: string, handler: XmlHandler): void {
  const parser = sax.parser(true, options);
  let depth = 0;
  parser.onerror = (error) => {
    throw invalid(`The document is not well-formed XML: ${error.message.split('\n')[0]!.slice(0, 100)}.`);
  };
  parser.ondoctype = (declaration) => {
    if (declaration.includes('[')) throw invalid('The document defines entities of its own, which is refused.');
  };
  parser.onopentag = ({ name, attributes }) => {
    depth += 1;
    if (depth > deepest) throw tooLarge(`The document is nested more than ${deepest} levels deep.`);
    handler.open(name, attributes as Record<string, string>);
  };
  parser.onclosetag = (name) => {
    depth -= 1;
    handler.close(name);
  };
  parser.ontext = parser.oncdata = (data) => handler.text(data);
  for (let at = 0; at < source.length; at += writtenAtOnce) parser.write(source.slice(at, at + writtenAtOnce));
  parser.close();
}

/** Text of a document by its byte order mark or declared encoding; UTF-8 if it declares none. */
export function xmlText(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  const declared = /^[^<]*<\?xml[^>]*?encoding\s*=\s*["']([\w-]+)["']/.exec(head)?.[1]?.toLowerCase() ?? 'utf-8';
  const known = ['utf-8', 'utf8', 'us-ascii', 'iso-8859-1', 'iso-8859-15', 'windows-1252'];
  if (!known.includes(declared)) throw invalid(`The document has the encoding ${declared.slice(0, 20)}, which is not read.`);
  return new TextDecoder(declared).decode(bytes);
}
