const codeEndings: ReadonlySet<string> = new Set(
  (
    'py pyi js mjs cjs jsx ts mts cts tsx vue svelte go rs java kt kts scala groovy swift c h cc cpp cxx hh hpp hxx m cs fs vb rb php pl pm lua r jl ' +
    'sh bash zsh fish ps1 sql hs ml mli ex exs erl clj cljs dart zig nim proto graphql'
  ).split(' '),
);

/** Media types of files that are read as the text they are, by the ending of their name, in lower case. */
export const textTypes: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  text: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  ...Object.fromEntries([...codeEndings].map((ending) => [ending, 'text/plain'])),
  ...Object.fromEntries(['mdx', 'rst', 'adoc', 'asciidoc', 'org', 'tex', 'srt', 'vtt'].map((ending) => [ending, 'text/plain'])),
};

/** How a text is cut: into paragraphs below their headings, into the rows of one table, or into definitions. */
export type TextForm = 'prose' | 'rows' | 'code';

const tables: ReadonlySet<string> = new Set(['text/csv', 'text/tab-separated-values']);

/** Without the dot, in lower case; empty for a name without one. */
export const endingOf = (name: string): string => /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? '';

/** Whether a file contains source code, by its name. */
export const isCode = (name: string): boolean => codeEndings.has(endingOf(name));

/** The form of a text by the name of its file, and by its media type if that is known. */
export function formOf(name: string, mime = ''): TextForm {
  if (isCode(name)) return 'code';
  return tables.has(mime) || tables.has(textTypes[endingOf(name)] ?? '') ? 'rows' : 'prose';
}
