// The text of a page that a person reads, without menus, banners and hidden parts.
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { removeHidden } from './hidden.mjs';
import { markdownOf } from './markdown.mjs';
import { shapeOf } from './tags.mjs';

/** Above these limits a tree costs more than it helps, or overflows the stack of its parser: then the text is read without one. */
const deepestTree = 400;
const mostTags = 60_000;

/** Less text than this is not an article. */
const shortestArticle = 200;
const besideContent = 'nav,footer,aside,button,[role="navigation"],[role="banner"],[role="contentinfo"],[role="dialog"]';

function parsed(html) {
  const { deepest, tags } = shapeOf(html);
  if (deepest > deepestTree || tags > mostTags) return null;
  const { document } = parseHTML(/<html[\s>]/i.test(html.slice(0, 4_096)) ? html : `<!doctype html><html><body>${html}</body></html>`);
  return document.documentElement && document.body ? document : null;
}

/** Returns `{ title, text, notices }`. */
function readablePage(html, limit) {
  const document = parsed(html);
  if (!document) return plainText(html, limit);
  const title = titleOf(document);
  const notices = hiddenNotice(removeHidden(document));
  const whole = document.body.outerHTML;
  const article = articleOf(document);
  const text = article ? markdownOf(article.content, limit).text : '';
  if (text.length >= shortestArticle) return { title: article.title?.trim() || title, text, notices };
  const { document: again } = parseHTML(`<!doctype html><html>${whole}</html>`);
  for (const element of again.querySelectorAll(besideContent)) element.remove();
  const rest = markdownOf(again.body?.outerHTML ?? '', limit).text;
  return { title: article?.title?.trim() || title, text: rest, notices };
}

/** All of a document without hidden parts, and without the menus that it marks as such unless nearly nothing else is in it. */
function htmlDocument(html, limit) {
  const document = parsed(html);
  if (!document) return plainText(html, limit);
  const title = titleOf(document);
  const notices = hiddenNotice(removeHidden(document));
  const whole = document.body.outerHTML;
  for (const menu of document.querySelectorAll('nav,[role="navigation"]')) menu.remove();
  const { text } = markdownOf(document.body?.outerHTML ?? '', limit);
  return { title, text: text.length >= shortestArticle ? text : markdownOf(whole, limit).text, notices };
}

/** All of its text, by one pass over the tags. */
const plainText = (html, limit) => ({
  ...markdownOf(html, limit),
  notices: ['It is too large or too deeply nested to be understood; this is all of its text.'],
});

/** Ways to read HTML, each `(html, limit) => { title, text, notices }`. */
export const extracts = { readable: readablePage, whole: htmlDocument, plain: plainText };

function articleOf(document) {
  try {
    return new Readability(document, { charThreshold: shortestArticle }).parse();
  } catch {
    // Odd markup: the whole body is read instead.
    return null;
  }
}

const titleOf = (document) =>
  (document.querySelector('title')?.textContent || document.querySelector('h1')?.textContent || '').replace(/\s+/g, ' ').trim();

const hiddenNotice = (count) => (count === 0 ? [] : [`${count} hidden ${count === 1 ? 'element was' : 'elements were'} left out.`]);
