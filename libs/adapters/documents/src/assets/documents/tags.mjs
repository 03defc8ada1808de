// Reports the tags and texts of HTML in the order of the document. The tokenizer keeps no stack of open elements and never looks back, so
// it costs linear time for any markup; a parser that closes elements by itself searches its stack at each closing tag.
import { Tokenizer } from 'htmlparser2';

const voidTags = new Set('area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '));
const ignore = () => {};

/**
 * Calls `on.text(text)`, `on.open(name, attributes, isVoid, isSelfClosed)` and `on.close(name)`. Attributes are a map of decoded values by
 * lower-case names; the first of two with the same name counts. Character references are replaced once: an entity that a document declares
 * itself stays unchanged. Comments and declarations are left out.
 */
export function eachTag(html, on) {
  let text = '';
  let name = '';
  let attributes = new Map();
  let attribute = '';
  let value = '';
  const endText = () => {
    if (text !== '') on.text(text);
    text = '';
  };
  const open = (isSelfClosed) => on.open(name, attributes, voidTags.has(name), isSelfClosed);
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ontext(start, end) {
        text += html.slice(start, end);
      },
      ontextentity(point) {
        text += String.fromCodePoint(point);
      },
      onopentagname(start, end) {
        endText();
        name = html.slice(start, end).toLowerCase();
        attributes = new Map();
      },
      onattribname(start, end) {
        attribute = html.slice(start, end).toLowerCase();
        value = '';
      },
      onattribdata(start, end) {
        value += html.slice(start, end);
      },
      onattribentity(point) {
        value += String.fromCodePoint(point);
      },
      onattribend() {
        if (!attributes.has(attribute)) attributes.set(attribute, value);
      },
      onopentagend: () => open(false),
      onselfclosingtag: () => open(true),
      onclosetag(start, end) {
        endText();
        on.close(html.slice(start, end).toLowerCase());
      },
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: endText,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
}

/** Deepest nesting and number of tags. Tags that the next one closes, such as `<p>`, do not count as nesting. */
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
