// The package of an Office document (OPC): a ZIP archive of XML parts that refer to each other. Nothing in it is trusted.
import { unzipSync } from 'fflate';
import { SaxesParser } from 'saxes';
import { Unreadable } from './unreadable.mjs';

const mostEntries = 20_000;
/** Maximum bytes of all parts that are read of one document; pictures and similar parts are never unpacked. */
const mostUnpacked = 256 * 1024 * 1024;
const deepest = 500;
/** Characters parsed between two checks whether the text is long enough. */
const slice = 64 * 1024;

const oldFormat = [0xd0, 0xcf, 0x11, 0xe0];

/** Returns `{ main, read(name), related(name), title }`. */
export function openPackage(bytes, usualMain) {
  if (oldFormat.every((byte, at) => bytes[at] === byte))
    throw new Unreadable(
      'unreadable',
      'It is protected by a password, or in an older format. Save it without a password as DOCX, XLSX or PPTX.',
    );
  /** Declared size of each part in bytes; a part that unpacks to more is cut off there. */
  const sizes = new Map();
  unzip(bytes, ({ name, originalSize }) => {
    if (sizes.size >= mostEntries) throw new Unreadable('too_large', `It has more than ${mostEntries} parts.`);
    if (!sizes.has(name)) sizes.set(name, originalSize);
    return false;
  });
  let left = mostUnpacked;
  const read = (name) => {
    const size = sizes.get(name);
    if (size === undefined) return null;
    left -= size;
    if (left < 0) throw new Unreadable('too_large', `It unpacks to more than ${mostUnpacked / 1024 / 1024} MB.`);
    let taken = false;
    const isWanted = (entry) => !taken && entry.name === name && (taken = true);
    return charactersOf(unzip(bytes, isWanted)[name] ?? new Uint8Array());
  };
  const related = (name) => relationsIn(read(relationsName(name)), name);
  const main = [...related('').values()].find(({ type }) => type.endsWith('/officeDocument'))?.target ?? usualMain;
  if (!sizes.has(main)) throw new Unreadable('unreadable', 'It is not an Office document of this kind.');
  return { main, read, related, title: titleIn(read('docProps/core.xml')) };
}

function unzip(bytes, filter) {
  try {
    return unzipSync(bytes, { filter });
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable('unreadable', 'It is broken, or not an Office document.');
  }
}

function charactersOf(bytes) {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

const folderOf = (name) => name.slice(0, name.lastIndexOf('/') + 1);
const relationsName = (name) => `${folderOf(name)}_rels/${name.slice(folderOf(name).length)}.rels`;

function relationsIn(xml, from) {
  const relations = new Map();
  eachElement(xml, {
    open(name, attributes) {
      if (name !== 'Relationship' || attributes.get('TargetMode') === 'External') return;
      const path = new URL(attributes.get('Target') ?? '', `file:///${folderOf(from)}`).pathname.slice(1);
      relations.set(attributes.get('Id'), { type: attributes.get('Type') ?? '', target: decodeURIComponent(path) });
    },
  });
  return relations;
}

function titleIn(xml) {
  let title = null;
  let isTitle = false;
  eachElement(xml, {
    open: (name) => (isTitle = name === 'title'),
    text: (text) => {
      if (isTitle) title = (title ?? '') + text;
    },
    close: () => (isTitle = false),
  });
  return (title ?? '').replace(/\s+/g, ' ').trim();
}

/**
 * Calls `open(name, attributes, isSelfClosed)`, `text(text)` and `close(name)` in the order of the document, with names without their
 * prefixes; attributes keep theirs if another has the same name. Stops early once `isEnough` returns true. Refuses custom entities and
 * external files.
 */
export function eachElement(xml, { open = () => {}, text = () => {}, close = () => {}, isEnough = () => false }) {
  if (xml === null) return;
  const parser = new SaxesParser({ xmlns: false });
  let depth = 0;
  parser.on('doctype', () => {
    throw new Unreadable('unreadable', 'It declares entities, which no Office document does.');
  });
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    if (depth > deepest) throw new Unreadable('unreadable', 'It is too deeply nested.');
    open(local(name), namesOf(attributes));
  });
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    close(local(name));
  });
  parser.on('text', text);
  for (let at = 0; at < xml.length; at += slice) {
    if (isEnough()) return;
    parser.write(xml.slice(at, at + slice));
  }
  if (!isEnough()) parser.close();
}

const local = (name) => name.slice(name.indexOf(':') + 1);

function namesOf(attributes) {
  const names = new Map();
  for (const [name, value] of Object.entries(attributes)) {
    names.set(name, value);
    if (name.includes(':') && !(local(name) in attributes)) names.set(local(name), value);
  }
  return names;
}

/** The id of a relationship; the element may have another `id` as well. */
export const relationOf = (attributes) =>
  attributes.get('r:id') ?? [...attributes].find(([name]) => /^(?!xml)[^:]+:id$/.test(name))?.[1] ?? null;

/** Whether a property such as `<w:b/>` or `<w:b w:val="0"/>` is on. */
export const isOn = (attributes) => !/^(?:0|false|off|none)$/i.test(attributes.get('val') ?? '1');

/** Blocks of Markdown; those of one list or table follow each other without a gap. */
export class Blocks {
  #parts = [];
  #last = null;
  length = 0;

  add(text, tight = null, indent = 0) {
    const clean = text
      .replace(/[ \t\u00a0]+/g, ' ')
      .replace(/ *\n */g, '\n')
      .trim();
    if (clean === '') return;
    if (this.#parts.length > 0) this.#parts.push(tight !== null && this.#last === tight ? '\n' : '\n\n');
    this.#parts.push('  '.repeat(indent) + clean);
    this.#last = tight;
    this.length += clean.length + 2;
  }

  heading(level, text) {
    const line = text.replace(/\s+/g, ' ').trim();
    if (line !== '') this.add(`${'#'.repeat(Math.min(6, Math.max(1, level)))} ${line}`);
  }

  text() {
    return this.#parts.join('');
  }
}

/** A row of a table as one line; null if all cells are empty. */
export function rowOf(cells) {
  const clean = cells.map((cell) => cell.replace(/\s+/g, ' ').trim());
  while (clean.length > 0 && clean.at(-1) === '') clean.pop();
  return clean.length === 0 ? null : clean.join(' | ');
}

export const hiddenNotice = (count, what = 'element') =>
  count === 0 ? [] : [`${count} hidden ${what}${count === 1 ? ' was' : 's were'} left out.`];
