import { invalid } from '../refusal.js';
import { folded } from './law-library.js';
import type { LawEntry, Norm } from './read-law.js';

const mostTerms = 10;

const lower = (text: string): string => text.normalize('NFC').toLowerCase().replaceAll('ß', 'ss');

/** Words and "quoted phrases" of a query, in lower case. */
export function termsOf(query: string): string[] {
  const terms = [...lower(query).matchAll(/["„“]([^"„“”]+)["“”]|[\p{L}\p{N}§]+/gu)].map(([whole, phrase]) => (phrase ?? whole).trim());
  const useful = [...new Set(terms)].filter((term) => term !== '');
  if (useful.length === 0) throw invalid('query has no words: give one or more words of the law.');
  return useful.slice(0, mostTerms);
}

const occurrences = (text: string, term: string): number => text.split(term).length - 1;

/** Laws whose title or name contains every word, shortest title first; a law with exactly that name comes before all. */
export function searchTitles(entries: readonly LawEntry[], query: string, most: number): { entry: LawEntry; total: number }[] {
  const terms = termsOf(query);
  const name = folded(query);
  const rank = ({ slug, title }: LawEntry): number | null => {
    if (folded(slug) === name) return 0;
    if (folded(slug.replace(/_\d{4}$/, '')) === name || folded(title) === name) return 1;
    const text = `${lower(title)} ${slug.toLowerCase()}`;
    return terms.every((term) => text.includes(term)) ? 10 + title.length : null;
  };
  const found = entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter((hit): hit is { entry: LawEntry; rank: number } => hit.rank !== null)
    .sort((a, b) => a.rank - b.rank || (a.entry.slug < b.entry.slug ? -1 : 1));
  return found.slice(0, most).map(({ entry }) => ({ entry, total: found.length }));
}

export interface NormHit {
  norm: Norm;
  /** How many of the terms occur. */
  matched: number;
  snippet: string;
}

/** Entries with the most of the words first, then by how often they occur; a word in the title counts five times. */
export function searchNorms(norms: readonly Norm[], query: string, most: number): { hits: NormHit[]; total: number } {
  const terms = termsOf(query);
  const found = norms
    .map((norm, order) => {
      const [title, text] = [lower(`${norm.name} ${norm.title}`), lower(norm.text)];
      const counts = terms.map((term) => occurrences(text, term) + 5 * occurrences(title, term));
      return {
        norm,
        order,
        text,
        matched: counts.filter((count) => count > 0).length,
        score: counts.reduce((a, b) => a + Math.min(b, 10), 0),
      };
    })
    .filter(({ matched }) => matched > 0)
    .sort((a, b) => b.matched - a.matched || b.score - a.score || a.order - b.order);
  const hits = found.slice(0, most).map(({ norm, text, matched }) => ({ norm, matched, snippet: snippetOf(norm.text, text, terms) }));
  return { hits, total: found.length };
}

/**
 * About 300 characters around the first word found. Case folding may change lengths by a few characters, which does not matter in a
 * snippet.
 */
function snippetOf(text: string, folded: string, terms: readonly string[]): string {
  const places = terms.map((term) => folded.indexOf(term)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - 100);
  const cut = text.slice(start, start + 300).replaceAll('\n', ' ');
  return `${start > 0 ? '…' : ''}${cut}${start + 300 < text.length ? '…' : ''}`;
}

const reference = /^(?:§+|art(?:ikel|\.)?)?\s*(\d+)\s*([a-z]{0,2})\b(?:[,\s]*(?:abs(?:atz|\.)?|\()\s*(\d+[a-z]?)\)?)?/i;

/** "§ 433 Abs. 1", "433 (1)", "Art. 1", "Anlage 2": the entry and, if requested, its subsection. */
export function findNorm(norms: readonly Norm[], wanted: string): { norm: Norm; subsection?: string } | null {
  const named = norms.find(({ name }) => folded(name) === folded(wanted));
  if (named) return { norm: named };
  const parts = reference.exec(wanted.trim());
  if (!parts) return null;
  const [, number = '', letter = '', subsection] = parts;
  const key = number + letter.toLowerCase();
  const norm =
    norms.find(({ name }) => reference.exec(name)?.slice(1, 3).join('').toLowerCase() === key && !/^§§/.test(name)) ??
    inRange(norms, Number(number));
  return norm ? { norm, ...(subsection !== undefined && { subsection: subsection.toLowerCase() }) } : null;
}

/** "§§ 20 bis 35" or "§§ 3 und 4": repealed entries are printed together. */
const inRange = (norms: readonly Norm[], number: number): Norm | undefined =>
  norms.find(({ name }) => {
    const range = /^§§\s*(\d+)\w*\s*(?:bis|und|,)\s*(\d+)/.exec(name);
    return range !== null && Number(range[1]) <= number && number <= Number(range[2]);
  });

/** The lines of one numbered subsection, "(1) …", up to the next. */
export function subsectionOf(text: string, number: string): string | null {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.toLowerCase().startsWith(`(${number})`));
  if (start < 0) return null;
  const length = lines.slice(start + 1).findIndex((line) => /^\(\d+[a-z]?\)/i.test(line));
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}
