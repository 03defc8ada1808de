import { invalid, tooLarge } from '../refusal.js';

/** What a document says, in order. */
export interface XmlHandler {
  open(name: string, attributes: string): void;
  close(name: string): void;
  text(data: string): void;
}

const deepest = 200;
const tag = /<(\/?)([A-Za-z_:][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const broken = (what: string): Error => invalid(`The document is not well-formed XML: ${what}.`);

/** The five entities of XML and character numbers. A document cannot define more, so nothing expands. */
export const decodeEntities = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|\w{1,31});?/g, (_, name: string) => {
        if (!name.startsWith('#')) {
          if (!Object.hasOwn(entities, name)) throw broken(`the entity &${name}; is not defined`);
          return entities[name]!;
        }
        const point = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
        if (point > 0x10ffff) throw broken(`&${name}; is no character`);
        return String.fromCodePoint(point);
      })
    : text;

/**
 * Reads a document from front to back in one pass. Takes no document type with an internal subset, so there are no entities to
 * expand, and fetches nothing an external one names. Throws INVALID_ARGUMENT for what is not well-formed.
 */
export function readXml(source: string, handler: XmlHandler): void {
  const open: string[] = [];
  const after = (end: string, from: number, what: string): number => {
    const found = source.indexOf(end, from);
    if (found < 0) throw broken(`${what} has no end`);
    return found + end.length;
  };
  for (let at = 0; at < source.length;) {
    const next = source.indexOf('<', at);
    const data = source.slice(at, next < 0 ? source.length : next);
    if (data !== '' && open.length > 0) handler.text(decodeEntities(data));
    if (next < 0) break;
    if (source.startsWith('<!--', next)) at = after('-->', next + 4, 'a comment');
    else if (source.startsWith('<?', next)) at = after('?>', next + 2, 'a processing instruction');
    else if (source.startsWith('<![CDATA[', next)) {
      at = after(']]>', next + 9, 'a CDATA section');
      handler.text(source.slice(next + 9, at - 3));
    } else if (source.startsWith('<!', next)) {
      at = after('>', next, 'a declaration');
      if (open.length > 0 || !source.startsWith('<!DOCTYPE', next)) throw broken('a declaration stands where none may');
      if (source.slice(next, at).includes('[')) throw invalid('The document defines entities of its own, which is refused.');
    } else {
      tag.lastIndex = next;
      const found = tag.exec(source);
      if (!found) throw broken('a tag cannot be read');
      const [whole, closing, name = '', attributes = '', empty] = found;
      at = next + whole.length;
      if (closing) {
        if (open.pop() !== name) throw broken(`</${name.slice(0, 40)}> closes another element`);
      } else {
        handler.open(name, attributes);
        open.push(name);
        if (open.length > deepest) throw tooLarge(`The document is nested more than ${deepest} levels deep.`);
        if (empty) open.pop();
      }
      if (closing || empty) handler.close(name);
    }
  }
  if (open.length > 0) throw broken(`<${open.at(-1)!.slice(0, 40)}> is not closed`);
}

export const attributeOf = (attributes: string, name: string): string | undefined => {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes);
  return found ? decodeEntities(found[1] ?? found[2] ?? '') : undefined;
};

/** Text of a document by its byte order mark or declared encoding; UTF-8 when it says nothing. */
export function xmlText(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  const declared = /^[^<]*<\?xml[^>]*?encoding\s*=\s*["']([\w-]+)["']/.exec(head)?.[1]?.toLowerCase() ?? 'utf-8';
  const known = ['utf-8', 'utf8', 'us-ascii', 'iso-8859-1', 'iso-8859-15', 'windows-1252'];
  if (!known.includes(declared)) throw invalid(`The document has the encoding ${declared.slice(0, 20)}, which is not read.`);
  return new TextDecoder(declared).decode(bytes);
}
