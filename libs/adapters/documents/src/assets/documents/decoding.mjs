// Decodes bytes by the first of these that applies: a byte order mark, the declared charset, the document's own declaration, UTF-8,
// windows-1252.

const utf8 = () => new TextDecoder('utf-8', { fatal: true });

/** The characters of windows-1252 at 0x80 to 0x9f. Node decodes these as controls, so they are corrected afterwards. */
const above = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const windows1252 = {
  encoding: 'windows-1252',
  decode: (bytes) => new TextDecoder('latin1').decode(bytes).replace(/[\x80-\x9f]/g, (sign) => above[sign.charCodeAt(0) - 0x80]),
};

function named(label) {
  try {
    const decoder = new TextDecoder(label);
    return decoder.encoding === 'windows-1252' ? windows1252 : decoder;
  } catch {
    // An unknown charset counts as no charset.
    return null;
  }
}

function marked([a, b, c]) {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  return a === 0xff && b === 0xfe ? 'utf-16le' : null;
}

/** Charset that an HTML document declares in its first 4,096 bytes. */
function declaredInside(bytes) {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4_096)).toString('latin1');
  const found = /<meta[^>]{0,200}?charset\s{0,5}=\s{0,5}["']?\s{0,5}([A-Za-z0-9:_-]{2,40})/i.exec(head);
  const label = found?.[1]?.toLowerCase() ?? null;
  // A document whose declaration is readable as ASCII is not UTF-16, whatever it declares.
  return label?.startsWith('utf-16') ? 'utf-8' : label;
}

/** Returns `{ text, guessed }`; `guessed` means that no charset was declared and it is not UTF-8. */
export function charactersOf(bytes, { charset = null, isHtml = false } = {}) {
  const decoder = named(marked(bytes) ?? charset ?? (isHtml ? declaredInside(bytes) : null));
  if (decoder && decoder.encoding !== 'utf-8') return { text: decoder.decode(bytes), guessed: false };
  try {
    return { text: utf8().decode(bytes), guessed: false };
  } catch {
    // Either declared as UTF-8 with some broken bytes, or not declared.
    if (decoder) return { text: decoder.decode(bytes), guessed: false };
    return { text: windows1252.decode(bytes), guessed: true };
  }
}

/** Whether the bytes are not text: they contain a NUL and have no byte order mark. */
export const isBinary = (bytes) => marked(bytes) === null && bytes.subarray(0, 8_192).includes(0);
