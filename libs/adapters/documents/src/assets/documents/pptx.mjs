// Text of a PPTX: a section for each slide under its title, with its notes. Hidden slides and shapes are left out.
import { Blocks, eachElement, hiddenNotice, openPackage, relationOf, rowOf } from './office.mjs';
import { Unreadable } from './unreadable.mjs';

/** Placeholders whose text is not content of the slide. */
const besideContent = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);
const deepestList = 6;

/** Returns `{ title, text, notices }`. Reads at most `pages` slides: further ones are refused if `strict`, otherwise left out. */
export function pptxText(bytes, { limit, pages, strict }) {
  const show = openPackage(bytes, 'ppt/presentation.xml');
  const relations = show.related(show.main);
  const { slides, size } = slidesIn(show.read(show.main));
  if (strict && slides.length > pages) throw new Unreadable('too_large', `It has ${slides.length} slides; ${pages} are read.`);
  const blocks = new Blocks();
  let hiddenSlides = 0;
  let hidden = 0;
  let title = show.title;
  let read = 0;
  for (const [at, relation] of slides.slice(0, pages).entries()) {
    if (blocks.length > limit) break;
    read += 1;
    const part = relations.get(relation)?.target;
    const slide = new Shapes(size);
    eachElement(part === undefined ? null : show.read(part), slide);
    if (slide.isHidden) {
      hiddenSlides += 1;
      continue;
    }
    hidden += slide.hidden;
    if (title === '') title = slide.title;
    blocks.heading(1, `Slide ${at + 1}${slide.title === '' ? '' : `: ${slide.title}`}`);
    for (const { text, tight, indent } of slide.blocks) blocks.add(text, tight, indent);
    const notesPart = [...show.related(part).values()].find(({ type }) => type.endsWith('/notesSlide'))?.target;
    if (notesPart === undefined) continue;
    const notes = new Shapes(null);
    eachElement(show.read(notesPart), notes);
    if (notes.blocks.length > 0) blocks.heading(2, 'Notes');
    for (const { text, tight, indent } of notes.blocks) blocks.add(text, tight, indent);
  }
  return {
    title,
    text: blocks.text(),
    notices: [
      ...hiddenNotice(hiddenSlides, 'slide'),
      ...hiddenNotice(hidden),
      ...(slides.length > read ? [`Only the first ${read} of its ${slides.length} slides were read.`] : []),
    ],
  };
}

function slidesIn(xml) {
  const slides = [];
  let size = null;
  eachElement(xml, {
    open(name, attributes) {
      if (name === 'sldId') slides.push(relationOf(attributes));
      else if (name === 'sldSz') size = { x: Number(attributes.get('cx')), y: Number(attributes.get('cy')) };
    },
  });
  return { slides, size };
}

/** The shapes of one slide, or of its notes. */
class Shapes {
  #size;
  /** Shapes and groups that are open, outermost first. */
  #open = [];
  #paragraph = null;
  #isText = false;
  #isTiny = false;
  #row = null;
  #cell = null;
  #skipping = 0;
  blocks = [];
  title = '';
  hidden = 0;
  isHidden = false;

  constructor(size) {
    this.#size = size;
  }

  open = (name, attributes) => {
    if (this.#skipping > 0 || name === 'Fallback') this.#skipping += 1;
    else if (name === 'sld') this.isHidden = /^(?:0|false)$/.test(attributes.get('show') ?? '');
    else if (name === 'sp' || name === 'grpSp' || name === 'graphicFrame' || name === 'pic' || name === 'cxnSp')
      this.#open.push({ isHidden: false, placeholder: null, counted: false });
    else if (name === 'cNvPr') this.#mark(/^(?:1|true)$/.test(attributes.get('hidden') ?? ''));
    else if (name === 'ph' && this.#open.length > 0) this.#open.at(-1).placeholder = attributes.get('type') ?? 'body';
    else if (name === 'off') this.#place(Number(attributes.get('x')), Number(attributes.get('y')));
    else if (name === 'p') this.#paragraph = { text: '', level: 0 };
    else if (name === 'pPr' && this.#paragraph) this.#paragraph.level = Math.max(0, Number(attributes.get('lvl')) || 0);
    else if (name === 'r' || name === 'fld') this.#isTiny = false;
    // In hundredths of a point.
    else if (name === 'rPr') this.#isTiny = Number(attributes.get('sz') ?? 1_800) <= 100;
    else if (name === 't') this.#isText = true;
    else if (name === 'br' && this.#paragraph) this.#paragraph.text += '\n';
    else if (name === 'tr') this.#row = [];
    else if (name === 'tc') this.#cell = '';
  };

  text = (text) => {
    if (!this.#isText || !this.#paragraph || this.#skipping > 0) return;
    if (this.#isTiny) this.hidden += text.trim() === '' ? 0 : 1;
    else this.#paragraph.text += text;
  };

  close = (name) => {
    if (this.#skipping > 0) this.#skipping -= 1;
    else if (name === 't') this.#isText = false;
    else if (name === 'p') this.#endParagraph();
    else if (name === 'tc') {
      this.#row?.push(this.#cell ?? '');
      this.#cell = null;
    } else if (name === 'tr') {
      const line = rowOf(this.#row ?? []);
      if (line !== null) this.#add(line, 'row');
      this.#row = null;
    } else if (name === 'sp' || name === 'grpSp' || name === 'graphicFrame' || name === 'pic' || name === 'cxnSp') this.#open.pop();
  };

  #mark(isHidden) {
    if (isHidden && this.#open.length > 0) this.#open.at(-1).isHidden = true;
  }

  /** Marks a shape outside the slide as hidden. Shapes in groups have other coordinates and are not checked. */
  #place(x, y) {
    if (this.#size === null || this.#open.length !== 1) return;
    if (x >= this.#size.x || y >= this.#size.y || x <= -this.#size.x || y <= -this.#size.y) this.#mark(true);
  }

  #endParagraph() {
    const { text, level } = this.#paragraph ?? { text: '', level: 0 };
    this.#paragraph = null;
    if (this.#cell !== null) {
      this.#cell += `${this.#cell === '' ? '' : ' '}${text}`;
      return;
    }
    const { placeholder = null } = this.#open.at(-1) ?? {};
    if (besideContent.has(placeholder)) return;
    const isTitle = placeholder === 'title' || placeholder === 'ctrTitle';
    if (isTitle && !this.#isUnseen()) this.title = `${this.title} ${text}`.replace(/\s+/g, ' ').trim();
    else if (level > 0) this.#add(`- ${text}`, 'item', Math.min(level, deepestList));
    else this.#add(text);
  }

  #isUnseen() {
    return this.#open.some(({ isHidden }) => isHidden);
  }

  #add(text, tight = null, indent = 0) {
    if (text.replace(/^- /, '').trim() === '') return;
    if (!this.#isUnseen()) this.blocks.push({ text, tight, indent });
    else {
      const shape = this.#open.find(({ isHidden }) => isHidden);
      if (!shape.counted) this.hidden += 1;
      shape.counted = true;
    }
  }
}
