// Text of an XLSX: a section for each sheet, a line for each row. Long sheets are split into parts that repeat the row of column names.
import { Blocks, eachElement, hiddenNotice, openPackage, relationOf, rowOf } from './office.mjs';
import { Unreadable } from './unreadable.mjs';

const rowsOfPart = 40;
const mostColumns = 16_384;
/** Most empty cells that are written in a row to keep the next value under its column name. */
const widestGap = 20;

/** Returns `{ title, text, notices }`. Reads at most `pages` sheets: further ones are refused if `strict`, otherwise left out. */
export function xlsxText(bytes, { limit, pages, strict }) {
  const book = openPackage(bytes, 'xl/workbook.xml');
  const relations = book.related(book.main);
  const { sheets, from1904 } = sheetsIn(book.read(book.main));
  const shown = sheets.filter(({ isHidden }) => !isHidden);
  if (strict && shown.length > pages) throw new Unreadable('too_large', `It has ${shown.length} sheets; ${pages} are read.`);
  const partOf = (kind) => book.read([...relations.values()].find(({ type }) => type.endsWith(`/${kind}`))?.target ?? '');
  const words = wordsIn(partOf('sharedStrings'));
  const formats = formatsIn(partOf('styles'));
  const blocks = new Blocks();
  let hidden = 0;
  let read = 0;
  for (const { name, relation } of shown.slice(0, pages)) {
    if (blocks.length > limit) break;
    read += 1;
    const target = relations.get(relation)?.target;
    const sheet = new Sheet(name, { blocks, limit, words, formats, from1904 });
    eachElement(target === undefined ? null : book.read(target), sheet);
    hidden += sheet.finish();
  }
  const left = shown.length - read;
  return {
    title: book.title,
    text: blocks.text(),
    notices: [
      ...hiddenNotice(sheets.length - shown.length, 'sheet'),
      ...hiddenNotice(hidden, 'cell'),
      ...(left > 0 ? [`Only the first ${read} of its ${shown.length} sheets were read.`] : []),
    ],
  };
}

function sheetsIn(xml) {
  const sheets = [];
  let from1904 = false;
  eachElement(xml, {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = attributes.has('date1904') && /^(?:1|true)$/.test(attributes.get('date1904'));
      if (name !== 'sheet') return;
      const isHidden = /hidden/i.test(attributes.get('state') ?? '');
      sheets.push({ name: attributes.get('name') ?? `Sheet ${sheets.length + 1}`, relation: relationOf(attributes), isHidden });
    },
  });
  return { sheets, from1904 };
}

/** The texts that cells share, without the phonetic readings of Japanese words. */
function wordsIn(xml) {
  const words = [];
  let word = null;
  let isText = false;
  let readings = 0;
  eachElement(xml, {
    open(name) {
      if (name === 'si') word = '';
      else if (name === 'rPh') readings += 1;
      else if (name === 't') isText = readings === 0;
    },
    text(text) {
      if (isText && word !== null) word += text;
    },
    close(name) {
      if (name === 't') isText = false;
      else if (name === 'rPh') readings -= 1;
      else if (name === 'si') {
        words.push(word);
        word = null;
      }
    },
  });
  return words;
}

/** How numbers of each style are written: `date`, `time`, `percent`, `hidden`, or null for unchanged. */
function formatsIn(xml) {
  const codes = new Map();
  const formats = [];
  let isCell = false;
  eachElement(xml, {
    open(name, attributes) {
      if (name === 'numFmt') codes.set(attributes.get('numFmtId'), attributes.get('formatCode') ?? '');
      else if (name === 'cellXfs') isCell = true;
      else if (name === 'xf' && isCell) formats.push(attributes.get('numFmtId') ?? '0');
    },
    close(name) {
      if (name === 'cellXfs') isCell = false;
    },
  });
  return formats.map((id) => (codes.has(id) ? kindOf(codes.get(id)) : usualKind(Number(id))));
}

const usualKind = (id) =>
  (id >= 14 && id <= 17) || id === 22
    ? 'date'
    : (id >= 18 && id <= 21) || (id >= 45 && id <= 47)
      ? 'time'
      : id === 9 || id === 10
        ? 'percent'
        : null;

function kindOf(code) {
  if (/^;;;+$/.test(code.trim())) return 'hidden';
  const plain = code.slice(0, 500).replace(/"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]/gi, '');
  if (/[yd]/i.test(plain)) return 'date';
  if (/[hs]/i.test(plain)) return 'time';
  return plain.includes('%') ? 'percent' : null;
}

class Sheet {
  #name;
  #blocks;
  #limit;
  #words;
  #formats;
  #from1904;
  /** Columns that are hidden, as ranges from 1. */
  #hiddenColumns = [];
  #row = null;
  #cell = null;
  #reads = null;
  /** Row with the names of the columns; null before the first row, '' if it has none. */
  #names = null;
  #part = [];
  #hidden = 0;

  constructor(name, { blocks, limit, words, formats, from1904 }) {
    this.#name = name;
    this.#blocks = blocks;
    this.#limit = limit;
    this.#words = words;
    this.#formats = formats;
    this.#from1904 = from1904;
  }

  isEnough = () => this.#blocks.length > this.#limit;

  open = (name, attributes) => {
    if (name === 'col' && attributes.has('hidden') && /^(?:1|true)$/.test(attributes.get('hidden')))
      this.#hiddenColumns.push([Number(attributes.get('min')), Number(attributes.get('max'))]);
    else if (name === 'row') {
      const number = Number(attributes.get('r')) || (this.#row?.number ?? 0) + 1;
      this.#row = {
        number,
        isHidden: /^(?:1|true)$/.test(attributes.get('hidden') ?? ''),
        cells: [],
        column: 0,
        written: 0,
        hasNumber: false,
      };
    } else if (name === 'c' && this.#row) {
      const column = columnOf(attributes.get('r')) ?? this.#row.column + 1;
      this.#row.column = column;
      this.#cell = { column, type: attributes.get('t') ?? 'n', style: Number(attributes.get('s') ?? 0), value: '' };
    } else if (this.#cell && (name === 'v' || name === 't')) this.#reads = name;
    else if (name === 'rPh') this.#reads = null;
  };

  text = (text) => {
    if (this.#reads !== null) this.#cell.value += text;
  };

  close = (name) => {
    if (name === 'v' || name === 't') this.#reads = null;
    else if (name === 'c' && this.#cell) this.#endCell();
    else if (name === 'row' && this.#row) this.#endRow();
  };

  /** Returns how many cells with content were hidden. */
  finish() {
    this.#endPart();
    return this.#hidden;
  }

  #endCell() {
    const { column, type, style, value } = this.#cell;
    this.#cell = null;
    if (value.trim() === '' || this.#row.cells.length >= mostColumns) return;
    const format = this.#formats[style] ?? null;
    const isColumnHidden = this.#hiddenColumns.some(([from, to]) => column >= from && column <= to);
    if (this.#row.isHidden || isColumnHidden || format === 'hidden') {
      this.#hidden += 1;
      this.#row.written = column;
      return;
    }
    const gap = Math.min(widestGap, column - this.#row.written - 1);
    for (let empty = 0; empty < gap; empty += 1) this.#row.cells.push('');
    this.#row.written = column;
    const isNumber = type === 'n';
    this.#row.hasNumber ||= isNumber;
    this.#row.cells.push(isNumber ? this.#numberOf(Number(value), format, value) : this.#wordOf(type, value));
  }

  #wordOf(type, value) {
    if (type === 's') return this.#words[Number(value)] ?? '';
    if (type === 'b') return value.trim() === '1' ? 'TRUE' : 'FALSE';
    return value;
  }

  #numberOf(number, format, text) {
    if (!Number.isFinite(number)) return text;
    if (format === 'percent') return `${rounded(number * 100)}%`;
    if (format !== 'date' && format !== 'time') return String(rounded(number));
    // Days since the last day of 1899; Excel treats 1900 as a leap year.
    const days = this.#from1904 ? number + 1_462 : number < 60 ? number + 1 : number;
    const time = new Date(Math.round((days - 25_569) * 86_400_000));
    if (Number.isNaN(time.getTime()) || time.getUTCFullYear() > 9_999) return String(number);
    const iso = time.toISOString();
    const clock = iso.slice(11, 19).replace(/:00$/, '');
    if (format === 'time' && number < 1) return clock;
    return clock === '00:00' ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${clock}`;
  }

  #endRow() {
    const { cells, hasNumber, number } = this.#row;
    const line = rowOf(cells);
    if (line === null) return;
    if (this.#names === null) {
      this.#names = !hasNumber && cells.length > 1 ? line : '';
      this.#blocks.heading(1, this.#name);
    }
    this.#part.push({ number, line });
    if (this.#part.length >= rowsOfPart) this.#endPart();
  }

  #endPart() {
    const [first] = this.#part;
    if (!first) return;
    this.#blocks.heading(2, `Rows ${first.number} to ${this.#part.at(-1).number}`);
    if (this.#names && first.line !== this.#names) this.#blocks.add(this.#names, 'row');
    for (const { line } of this.#part) this.#blocks.add(line, 'row');
    this.#part = [];
  }
}

/** A spreadsheet calculates with fifteen digits. */
const rounded = (number) => Number(number.toPrecision(15));

function columnOf(reference) {
  const letters = /^([A-Z]{1,3})\d/.exec(reference ?? '')?.[1];
  return letters === undefined ? null : [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0);
}
