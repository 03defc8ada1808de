// Text of a DOCX in its order: headings by the outline level of their style, lists, tables, foot- and endnotes. Deleted and hidden text is left out.
import { Blocks, eachElement, hiddenNotice, isOn, openPackage, rowOf } from './office.mjs';

/** Not content, or content that occurs elsewhere as well. */
const skipped = new Set(['Fallback', 'moveFrom', 'del', 'instrText', 'delText', 'delInstrText']);
const deepestList = 6;
const deepestStyles = 20;

/** Returns `{ title, text, notices }`; reads no further once the text is longer than `limit` characters. */
export function docxText(bytes, { limit }) {
  const document = openPackage(bytes, 'word/document.xml');
  const relations = [...document.related(document.main).values()];
  const partOf = (kind) => document.read(relations.find(({ type }) => type.endsWith(`/${kind}`))?.target ?? '');
  const styles = stylesIn(partOf('styles'));
  const body = new Body(styles, limit);
  eachElement(document.read(document.main), body);
  for (const kind of ['footnotes', 'endnotes']) if (!body.isEnough()) eachElement(partOf(kind), body);
  return { title: document.title || body.title, text: body.markdown(), notices: hiddenNotice(body.hidden) };
}

class Body {
  #styles;
  #limit;
  #blocks = new Blocks();
  /** Open paragraphs, innermost last; a text box is inside a paragraph. */
  #paragraphs = [];
  #tables = [];
  #skipping = 0;
  #run = null;
  /** The open element of properties: of a paragraph (`pPr`) or a run (`rPr`). */
  #properties = null;
  #isText = false;
  #boxes = 0;
  #isSeparator = false;
  title = '';
  hidden = 0;

  constructor(styles, limit) {
    this.#styles = styles;
    this.#limit = limit;
  }

  markdown() {
    return this.#blocks.text();
  }

  isEnough = () => this.#blocks.length > this.#limit;

  text = (text) => {
    if (this.#isText && this.#skipping === 0) this.#write(text);
  };

  get #paragraph() {
    return this.#paragraphs.at(-1) ?? null;
  }

  open = (name, attributes) => {
    if (this.#skipping > 0 || skipped.has(name)) {
      this.#skipping += 1;
      return;
    }
    if (this.#properties !== null) return this.#property(name, attributes);
    if (name === 'p') this.#paragraphs.push({ text: '', unseen: '', style: '', outline: null, level: null, shaded: false });
    else if (name === 'r') this.#run = { style: '', hidden: null, white: false, shaded: false };
    else if (name === 'pPr' || name === 'rPr') this.#properties = { name, depth: 0 };
    else if (name === 't') this.#isText = this.#run !== null;
    else if (name === 'tab' || name === 'ptab') this.#write('\t');
    else if (name === 'br' || name === 'cr') this.#write('\n');
    else if (name === 'noBreakHyphen') this.#write('-');
    else if (name === 'tbl') this.#tables.push({ row: [], cell: '' });
    else if (name === 'tr' && this.#tables.length > 0) this.#tables.at(-1).row = [];
    else if (name === 'tc' && this.#tables.length > 0) this.#tables.at(-1).cell = '';
    else if (name === 'txbxContent') this.#boxes += 1;
    else if (name === 'footnote' || name === 'endnote') this.#isSeparator = attributes.has('type') && attributes.get('type') !== 'normal';
  };

  close = (name) => {
    if (this.#skipping > 0) {
      this.#skipping -= 1;
      return;
    }
    if (this.#properties !== null) {
      if (this.#properties.depth === 0) this.#properties = null;
      else this.#properties.depth -= 1;
      return;
    }
    if (name === 't') this.#isText = false;
    else if (name === 'r') this.#run = null;
    else if (name === 'p') this.#endParagraph();
    else if (name === 'txbxContent') this.#boxes -= 1;
    else if (name === 'tc' && this.#tables.length > 0) this.#tables.at(-1).row.push(this.#tables.at(-1).cell);
    else if (name === 'tr' && this.#tables.length > 0) this.#endRow();
    else if (name === 'tbl') this.#tables.pop();
  };

  #property(name, attributes) {
    this.#properties.depth += 1;
    const { name: of } = this.#properties;
    const paragraph = this.#paragraph;
    if (of === 'rPr' && this.#run) {
      if (name === 'rStyle') this.#run.style = attributes.get('val') ?? '';
      else readLook(name, attributes, this.#run);
    } else if (of === 'pPr' && paragraph) {
      if (name === 'pStyle') paragraph.style = attributes.get('val') ?? '';
      else if (name === 'outlineLvl') paragraph.outline = Number(attributes.get('val'));
      else if (name === 'ilvl') paragraph.level = Math.max(0, Number(attributes.get('val')) || 0);
      else if (name === 'numId') paragraph.level = attributes.get('val') === '0' ? null : (paragraph.level ?? 0);
      else if (name === 'shd') paragraph.shaded = true;
    }
  }

  #write(text) {
    const paragraph = this.#paragraph;
    if (!paragraph || this.#isSeparator) return;
    if (this.#isUnseen(paragraph)) paragraph.unseen += text;
    else paragraph.text += text;
  }

  /** Whether text is hidden, too small, or white on white. White text in tables and boxes counts as visible: they may be dark. */
  #isUnseen(paragraph) {
    const run = this.#run;
    const styles = [this.#styles.get(run?.style ?? ''), this.#styles.get(paragraph.style)];
    const hidden = run?.hidden ?? styles.find((style) => typeof style?.hidden === 'boolean')?.hidden ?? false;
    if (hidden) return true;
    const isWhite = run?.white || styles.some((style) => style?.white);
    const isShaded = run?.shaded || paragraph.shaded || styles.some((style) => style?.shaded);
    return Boolean(isWhite) && !isShaded && this.#tables.length === 0 && this.#boxes === 0;
  }

  #endParagraph() {
    const paragraph = this.#paragraphs.pop();
    if (!paragraph) return;
    const { text, unseen, style, outline, level } = paragraph;
    if (unseen.trim() !== '') this.hidden += 1;
    const table = this.#boxes > 0 ? null : this.#tables.at(-1);
    if (table) {
      table.cell += `${table.cell === '' ? '' : ' '}${text}`;
      return;
    }
    const known = this.#styles.get(style);
    const heading = outline !== null && outline < 9 ? outline + 1 : (known?.heading ?? 0);
    if (heading > 0) {
      if (this.title === '') this.title = text.replace(/\s+/g, ' ').trim();
      this.#blocks.heading(heading, text);
    } else if ((level ?? known?.isList ?? false) !== false) this.#listItem(text, level ?? 0);
    else this.#blocks.add(text);
  }

  #listItem(text, level) {
    if (text.trim() !== '') this.#blocks.add(`- ${text}`, 'item', Math.min(level, deepestList));
  }

  #endRow() {
    const { row } = this.#tables.at(-1);
    const line = rowOf(row);
    if (line === null) return;
    const outer = this.#tables.at(-2);
    if (outer) outer.cell += `${outer.cell === '' ? '' : ' '}${line}`;
    else this.#blocks.add(line, 'row');
  }
}

/** Reads the properties that decide whether text is visible. */
function readLook(name, attributes, look) {
  if (name === 'vanish' || name === 'webHidden' || name === 'specVanish') look.hidden = isOn(attributes);
  // In half points.
  else if (name === 'sz' && Number(attributes.get('val')) <= 2) look.hidden = true;
  else if (name === 'color') look.white = /^f{6}$/i.test(attributes.get('val') ?? '');
  else if (name === 'shd' || name === 'highlight') look.shaded = true;
}

/** Heading level, list and visibility of each style, including what it inherits. */
function stylesIn(xml) {
  const own = new Map();
  let style = null;
  eachElement(xml, {
    open(name, attributes) {
      if (name === 'style') own.set(attributes.get('styleId') ?? '', (style = { heading: null, basedOn: null, hidden: null }));
      else if (!style) return;
      else if (name === 'name') {
        const heading = /^heading ([1-9])$/i.exec(attributes.get('val') ?? '');
        if (heading) style.heading = Number(heading[1]);
        else if (/^title$/i.test(attributes.get('val') ?? '')) style.heading = 1;
      } else if (name === 'basedOn') style.basedOn = attributes.get('val');
      else if (name === 'outlineLvl') style.heading ??= Number(attributes.get('val')) < 9 ? Number(attributes.get('val')) + 1 : 0;
      else if (name === 'numId') style.isList = attributes.get('val') !== '0';
      else readLook(name, attributes, style);
    },
    close(name) {
      if (name === 'style') style = null;
    },
  });
  const whole = (id, depth) => {
    const found = own.get(id);
    if (!found || depth > deepestStyles) return {};
    const inherited = found.basedOn === null || found.basedOn === undefined ? {} : whole(found.basedOn, depth + 1);
    return { ...inherited, ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null && value !== undefined)) };
  };
  return new Map([...own.keys()].map((id) => [id, whole(id, 0)]));
}
