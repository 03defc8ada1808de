// The parts of a page that a person does not see: elements hidden by attributes, by their style, or by a rule of the page's own style
// sheets.

const longestStyle = 200_000;
const mostSelectors = 300;

const hiding = [
  /(?:^|;)\s*display\s*:\s*none/,
  /(?:^|;)\s*visibility\s*:\s*(?:hidden|collapse)/,
  /(?:^|;)\s*(?:opacity|zoom)\s*:\s*0?\.?0*\s*(?:%|!|;|$)/,
  /(?:^|;)\s*font-size\s*:\s*0*(?:0|\.\d+|0\.\d+|1)(?:px|pt)?\s*(?:%|!|;|$)/,
  /(?:^|;)\s*(?:left|right|top|bottom|text-indent|margin-left|margin-top)\s*:\s*-(?:\d{4,}|\d{3,}r?em)/,
  /(?:^|;)\s*clip\s*:\s*rect\(\s*[01]/,
  /(?:^|;)\s*clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0)/,
  /(?:^|;)\s*transform\s*:\s*scale\w?\(\s*0\s*[,)]/,
  /(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:!|;|$)[\s\S]{0,200}overflow\s*:\s*hidden/,
  /overflow\s*:\s*hidden[\s\S]{0,200};\s*(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:!|;|$)/,
];

const valueOf = (style, name) => new RegExp(`(?:^|;)\\s*${name}\\s*:\\s*([^;!]{1,60})`).exec(style)?.[1]?.trim();

/** A comment without an end hides all the rest, in a browser too; here it also keeps the search from starting again at each opening. */
const withoutComments = (css) => css.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, '');

/** Whether declarations such as `display:none` hide the element that they apply to. */
export function hides(declarations) {
  const style = withoutComments(declarations.slice(0, 4_000))
    .replace(/\\([0-9a-fA-F]{1,6})\s?/g, (_whole, hex) => String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0xffff)))
    .toLowerCase();
  if (hiding.some((rule) => rule.test(style))) return true;
  // With this setting the text shows the colours of its background.
  if (/background-clip\s*:\s*text/.test(style)) return false;
  const color = valueOf(style, 'color');
  if (color === undefined || /^(?:inherit|initial|unset|revert|currentcolor|var\()/.test(color)) return false;
  if (color === 'transparent' || /^rgba\(.{0,40},\s*0(?:\.0+)?\s*\)$/.test(color)) return true;
  return color === valueOf(style, 'background-color') || color === valueOf(style, 'background');
}

/** Selectors that a style sheet hides on every screen. Rules under conditions such as width or print are left out. */
export function hiddenSelectors(css) {
  const sheet = withoutComments(css.slice(0, longestStyle));
  const selectors = [];
  let at = 0;
  while (at < sheet.length && selectors.length < mostSelectors) {
    const open = sheet.indexOf('{', at);
    if (open < 0) break;
    const between = sheet.slice(at, open);
    const head = between
      .slice(between.lastIndexOf(';') + 1)
      .replace(/^[}\s]+/, '')
      .trim();
    if (head.startsWith('@')) {
      // Inside a block for all screens the rules count; any other block is left out entirely.
      at = /^@(?:media\s+(?:screen|all)|layer[^;{]*|supports[^;{]*)\s*$/i.test(head) ? open + 1 : endOfBlock(sheet, open);
      continue;
    }
    const close = sheet.indexOf('}', open);
    const end = close < 0 ? sheet.length : close;
    if (head !== '' && head.length < 2_000 && !head.includes(':') && hides(sheet.slice(open + 1, end)))
      selectors.push(...head.split(',').map((selector) => selector.trim()));
    at = end + 1;
  }
  return selectors.filter((selector) => selector !== '' && !/^(?:html|body|\*|:root)$/i.test(selector)).slice(0, mostSelectors);
}

function endOfBlock(sheet, open) {
  let depth = 0;
  for (let at = open; at < sheet.length; at += 1) {
    if (sheet[at] === '{') depth += 1;
    else if (sheet[at] === '}' && (depth -= 1) === 0) return at + 1;
  }
  return sheet.length;
}

const neverSeen = [
  'script',
  'style',
  'template',
  'noscript',
  'iframe',
  'object',
  'embed',
  'svg',
  'canvas',
  'math annotation',
  'input',
  'select',
  'textarea',
  'dialog:not([open])',
  '[hidden]',
  '[aria-hidden="true"]',
  'datalist',
  'audio',
  'video',
  'map',
].join(',');

/** Removes invisible parts from a parsed document. Returns how many hidden elements with text it removed. */
export function removeHidden(document) {
  const selectors = hiddenSelectors([...document.querySelectorAll('style')].map((style) => style.textContent).join('\n'));
  let hidden = 0;
  const remove = (element, counts) => {
    if (element === document.documentElement || element === document.body || !element.parentNode) return;
    if (counts && element.textContent.trim() !== '') hidden += 1;
    element.remove();
  };
  for (const element of document.querySelectorAll(neverSeen)) remove(element, element.hasAttribute('hidden'));
  for (const element of document.querySelectorAll('[style]')) if (hides(element.getAttribute('style') ?? '')) remove(element, true);
  for (const selector of selectors) for (const element of selected(document, selector)) remove(element, true);
  return hidden;
}

function selected(document, selector) {
  try {
    return document.querySelectorAll(selector);
  } catch {
    // A selector that this parser does not know hides nothing here.
    return [];
  }
}
