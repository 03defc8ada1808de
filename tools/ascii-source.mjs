// Makes bundles of one byte a character, which V8 reads fastest and keeps in the least memory. esbuild escapes strings and names by
// itself, but leaves regular expressions, comments and the raw text of tagged templates as they are.
import { readFile } from 'node:fs/promises';

/** Plugin of esbuild: regular expressions come in with escapes, and comments without what would need one. */
export const asciiSource = {
  name: 'ascii-source',
  setup(bundler) {
    bundler.onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return foreign.test(text) ? { contents: await inAscii(text), loader: 'js' } : undefined;
    });
  },
};

const foreign = /[^\0-\x7f]/;

/** JavaScript of the same meaning whose regular expressions and comments are ASCII. Strings, templates and names stay as they are. */
export async function inAscii(text) {
  const { default: ts } = await import('typescript');
  const file = ts.createSourceFile(
    'module.js',
    text,
    { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone },
    false,
    ts.ScriptKind.JS,
  );
  let written = '';
  let end = 0;
  const take = (node) => {
    let isLeaf = true;
    ts.forEachChild(node, (child) => {
      isLeaf = false;
      take(child);
    });
    if (!isLeaf) return;
    const start = node.getStart(file);
    // Between two names or literals stand signs, white space and comments.
    written += withoutForeign(text.slice(end, start));
    const said = text.slice(start, node.end);
    written += node.kind === ts.SyntaxKind.RegularExpressionLiteral ? withEscapes(said) : said;
    end = node.end;
  };
  take(file);
  return written + withoutForeign(text.slice(end));
}

/** White space stays white space, and a line that ends stays one that ends. */
const withoutForeign = (text) => text.replace(/[\u2028\u2029]/g, '\n').replace(/[^\0-\x7f]/g, ' ');

/** A backslash before such a character means the character itself; before its escape it would mean a backslash. */
const withEscapes = (expression) =>
  expression.replace(/(\\*)([^\0-\x7f])/g, (_, slashes, character) => {
    const kept = slashes.length % 2 === 0 ? slashes : slashes.slice(1);
    return `${kept}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
