// Splits HTML into tags and texts, in one pass and without recursion: whatever the markup, it costs linear time.

const voidTags = new Set('area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '));
/** Their content is no markup. */
const rawTags = new Set(['script', 'style', 'xmp', 'iframe', 'noembed', 'noframes', 'textarea', 'title', 'plaintext']);

const entities = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  shy: '',
  zwnj: '\u200C',
  zwj: '\u200D',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  ecirc: 'ê',
  agrave: 'à',
  aacute: 'á',
  acirc: 'â',
  aring: 'å',
  aelig: 'æ',
  oslash: 'ø',
  ccedil: 'ç',
  ntilde: 'ñ',
  iacute: 'í',
  oacute: 'ó',
  uacute: 'ú',
  Eacute: 'É',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  laquo: '«',
  raquo: '»',
  lsaquo: '‹',
  rsaquo: '›',
  bull: '•',
  middot: '·',
  deg: '°',
  plusmn: '±',
  times: '×',
  divide: '÷',
  minus: '−',
  frac12: '½',
  frac14: '¼',
  frac34: '¾',
  sup2: '²',
  sup3: '³',
  micro: 'µ',
  para: '¶',
  sect: '§',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  le: '≤',
  ge: '≥',
  ne: '≠',
  asymp: '≈',
  infin: '∞',
  rarr: '→',
  larr: '←',
  uarr: '↑',
  darr: '↓',
  alpha: 'α',
  beta: 'β',
  gamma: 'γ',
  delta: 'δ',
  lambda: 'λ',
  mu: 'μ',
  pi: 'π',
  sigma: 'σ',
  omega: 'ω',
  permil: '‰',
};

const codePoint = (value) =>
  value > 0 && value <= 0x10ffff && !(value >= 0xd800 && value <= 0xdfff) ? String.fromCodePoint(value) : '\uFFFD';

/** Text with its character references replaced, once: an entity that a document declares itself stays as it is written. */
export const decoded = (text) =>
  text.includes('&')
    ? text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,31}));?/g, (whole, decimal, hex, name) => {
        if (decimal) return codePoint(Number(decimal));
        if (hex) return codePoint(Number.parseInt(hex, 16));
        return Object.hasOwn(entities, name) ? entities[name] : whole;
      })
    : text;

/**
 * Calls `on.text(text)`, `on.open(name, attributes, isVoid)` and `on.close(name)` in the order of the document. Attributes are the raw
 * text between the name and the `>`. Comments, declarations and the content of raw elements but `title` are left out; the opening of
 * those elements is told as void.
 */
export function eachTag(html, on) {
  let at = 0;
  const { length } = html;
  while (at < length) {
    const next = html.indexOf('<', at);
    if (next < 0) return on.text(html.slice(at));
    if (next > at) on.text(html.slice(at, next));
    if (html.startsWith('<!--', next)) {
      at = endOf(html, '-->', next + 4);
      continue;
    }
    const sign = html[next + 1];
    if (sign === '!' || sign === '?') {
      const close = endOf(html, '>', next);
      const bracket = html.indexOf('[', next);
      // A declaration with declarations inside, such as entities.
      at = sign === '!' && bracket >= 0 && bracket < close ? endOf(html, ']', bracket) : close;
      if (at !== close) at = endOf(html, '>', at);
      continue;
    }
    const closing = sign === '/';
    const start = next + (closing ? 2 : 1);
    let end = start;
    while (end < length && end - start < 64 && /[A-Za-z0-9:_-]/.test(html[end])) end += 1;
    if (end === start || !/[A-Za-z]/.test(html[start])) {
      on.text('<');
      at = next + 1;
      continue;
    }
    const name = html.slice(start, end).toLowerCase();
    const after = endOfTag(html, end);
    at = after;
    if (closing) {
      on.close(name);
      continue;
    }
    const attributes = html.slice(end, after - 1);
    if (!rawTags.has(name)) {
      on.open(name, attributes, voidTags.has(name));
      continue;
    }
    const ending = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
    ending.lastIndex = after;
    const found = name === 'plaintext' ? null : ending.exec(html);
    if (name === 'title') {
      on.open(name, attributes, false);
      on.text(html.slice(after, found ? found.index : length));
      on.close(name);
    } else on.open(name, attributes, true);
    at = found ? endOfTag(html, found.index) : length;
  }
}

function endOf(html, mark, from) {
  const found = html.indexOf(mark, from);
  return found < 0 ? html.length : found + mark.length;
}

/** Place behind the `>` of a tag; a `>` inside quotes does not count. */
function endOfTag(html, from) {
  let quote = '';
  for (let at = from; at < html.length; at += 1) {
    const sign = html[at];
    if (quote) {
      if (sign === quote) quote = '';
    } else if ((sign === '"' || sign === "'") && html[at - 1] === '=') quote = sign;
    else if (sign === '>') return at + 1;
  }
  return html.length;
}

/** Deepest nesting and number of tags, as far as tags without a declared end do not pretend to nest. */
export function shapeOf(html) {
  const closedByNext = new Set(['p', 'li', 'td', 'th', 'tr', 'dt', 'dd', 'option', 'html', 'head', 'body']);
  let depth = 0;
  let deepest = 0;
  let tags = 0;
  eachTag(html, {
    text() {},
    open(name, attributes, isVoid) {
      tags += 1;
      if (isVoid || closedByNext.has(name)) return;
      depth += 1;
      if (depth > deepest) deepest = depth;
    },
    close(name) {
      if (depth > 0 && !closedByNext.has(name)) depth -= 1;
    },
  });
  return { deepest, tags };
}
