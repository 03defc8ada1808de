// Writes HTML as text in which headings, lists, quotes, tables and code keep the marks of Markdown.
import { hides } from './hidden.mjs';
import { eachTag } from './tags.mjs';

const blocks = new Set(
  (
    'address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form header hgroup hr ' +
    'html legend main menu nav ol optgroup option p pre search section summary table tbody td tfoot th thead tr ul li caption head ' +
    'h1 h2 h3 h4 h5 h6'
  ).split(' '),
);
/** None of these is content. */
const dropped = new Set(['template', 'noscript', 'object', 'svg', 'canvas', 'select', 'button', 'head', 'datalist', 'audio', 'video']);
/** These are not content either, and nothing in them is markup. HTML ignores a slash that would close their opening tag. */
const raw = new Set(['script', 'style', 'xmp', 'iframe', 'noembed', 'noframes', 'textarea', 'plaintext']);
const deepestList = 6;

const isHidden = (attributes) =>
  attributes.has('hidden') ||
  /^\s*true/i.test(attributes.get('aria-hidden') ?? '') ||
  (attributes.has('style') && hides(attributes.get('style')));

/** Returns `{ title, text }`; reads no further once the text is longer than `limit` characters. */
export function markdownOf(html, limit = Number.POSITIVE_INFINITY) {
  const writer = new MarkdownWriter();
  let title = '';
  let inTitle = false;
  /** Element whose content is left out, and how many with its name are open inside it. */
  let skipped = null;
  eachTag(html, {
    text(text) {
      if (inTitle) title += text;
      else if (!skipped && writer.length <= limit) writer.text(text);
    },
    open(name, attributes, isVoid, isSelfClosed) {
      if (name === 'title') inTitle = title === '';
      if (skipped) {
        if (!isVoid && name === skipped.name) skipped.depth += 1;
        return;
      }
      if (isVoid) return writer.voidTag(name);
      if (name === 'title') return undefined;
      if (raw.has(name) || (dropped.has(name) && !isSelfClosed) || isHidden(attributes)) {
        if (name === 'html' || name === 'body') return undefined;
        skipped = { name, depth: 1 };
        return undefined;
      }
      return writer.open(name);
    },
    close(name) {
      if (name === 'title') inTitle = false;
      else if (!skipped) writer.close(name);
      else if (name === skipped.name && (skipped.depth -= 1) === 0) skipped = null;
      // An unclosed `<head>` does not hide the body.
      if (skipped?.name === 'head' && name === 'html') skipped = null;
    },
  });
  return { title: title.replace(/\s+/g, ' ').trim(), text: writer.end() };
}

class MarkdownWriter {
  #done = [];
  #line = '';
  #prefix = '';
  #lists = [];
  #quotes = 0;
  #pre = 0;
  #cells = 0;
  length = 0;

  text(text) {
    if (this.#pre > 0) this.#line += text;
    else {
      const flat = text.replace(/\s+/g, ' ');
      this.#line += this.#line === '' || this.#line.endsWith(' ') || this.#line.endsWith('\n') ? flat.replace(/^ /, '') : flat;
    }
  }

  voidTag(name) {
    if (name === 'br') this.#line += '\n';
    else if (name === 'hr') this.#flush();
    else if (name === 'img' || name === 'wbr' || name === 'input') return;
    else if (blocks.has(name)) this.#flush();
  }

  open(name) {
    if (!blocks.has(name)) return;
    if ((name === 'td' || name === 'th') && this.#pre === 0) {
      if (this.#cells > 0) this.#line = `${this.#line.trimEnd()} | `;
      this.#cells += 1;
      return;
    }
    this.#flush();
    if (/^h[1-6]$/.test(name)) this.#prefix = `${'#'.repeat(Number(name[1]))} `;
    else if (name === 'ul' || name === 'ol' || name === 'menu') this.#lists.push(name === 'ol' ? 0 : null);
    else if (name === 'li') this.#prefix = this.#item();
    else if (name === 'blockquote') this.#quotes += 1;
    else if (name === 'pre') this.#pre += 1;
    else if (name === 'tr') this.#cells = 0;
  }

  close(name) {
    if (!blocks.has(name) || name === 'td' || name === 'th') return;
    this.#flush();
    if (name === 'ul' || name === 'ol' || name === 'menu') this.#lists.pop();
    else if (name === 'blockquote') this.#quotes = Math.max(0, this.#quotes - 1);
    else if (name === 'pre') this.#pre = Math.max(0, this.#pre - 1);
  }

  end() {
    this.#flush();
    return this.#done
      .map(({ text, tight }, index) =>
        index === 0 ? text : `${tight !== null && this.#done[index - 1].tight === tight ? '\n' : '\n\n'}${text}`,
      )
      .join('');
  }

  #item() {
    const depth = Math.min(this.#lists.length, deepestList);
    const count = this.#lists.at(-1);
    const indent = '  '.repeat(Math.max(0, depth - 1));
    if (typeof count !== 'number') return `${indent}- `;
    this.#lists[this.#lists.length - 1] = count + 1;
    return `${indent}${count + 1}. `;
  }

  #flush() {
    const line = this.#pre > 0 ? this.#line.replace(/^\n|\s+$/g, '') : this.#line.replace(/ *\n */g, '\n').trim();
    this.#line = '';
    if (line.trim() === '') return;
    // Lines of one list, and rows of one table, follow each other without a gap.
    const tight = this.#cells > 0 ? 'row' : /^\s*(?:- |\d+\. )/.test(this.#prefix) ? 'item' : null;
    const heading = this.#prefix.startsWith('#');
    const body = this.#pre > 0 ? `\`\`\`\n${line}\n\`\`\`` : this.#prefix + (heading ? line.replace(/\n/g, ' ') : line);
    const quote = '> '.repeat(Math.min(this.#quotes, 3));
    this.#done.push({ text: quote === '' ? body : body.replace(/^/gm, quote), tight });
    this.length += body.length;
    this.#prefix = '';
    this.#cells = 0;
  }
}
