import * as z from 'zod';
import { quoted, Refusal } from '../refusal.js';
import type { ToolDeclaration } from '../tool.js';
import type { LawLibrary } from './law-library.js';
import type { Law, LawEntry } from './read-law.js';
import { findNorm, searchNorms, searchTitles, subsectionOf, termsOf } from './search.js';

/** A tool that looks into a library of laws; it may wait for the network. */
export interface LawTool extends ToolDeclaration {
  ask(args: Record<string, unknown>, library: LawLibrary, signal: AbortSignal): Promise<Record<string, unknown>>;
}

const limits = { timeoutMs: 10_000, argumentChars: 1_000 };
const longestText = 30_000;

function defineLawTool<Input extends z.ZodRawShape, Output extends z.ZodRawShape>(spec: {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: Output;
  ask(args: z.output<z.ZodObject<Input>>, library: LawLibrary, signal: AbortSignal): Promise<z.input<z.ZodObject<Output>>>;
}): LawTool {
  const tool = { ...spec, limits, input: z.strictObject(spec.input), output: z.strictObject(spec.output) };
  return tool as unknown as LawTool;
}

const lawArgument = z.string().min(1).max(300).describe('abbreviation, name in addresses or title, such as "BGB", "sgb_5", "Grundgesetz"');
const source = z.strictObject({
  law: z.string().describe('abbreviation'),
  title: z.string(),
  name: z.string().describe('name in addresses, to be given as `law`'),
  enacted: z.string(),
  status: z.array(z.string()).describe('amendments as the publisher states them'),
  built: z.string().describe('when the publisher built the file'),
});
const sourceOf = (entry: LawEntry, { abbreviation, title, enacted, status, built }: Law): z.input<typeof source> => ({
  law: abbreviation,
  title,
  name: entry.slug,
  enacted,
  status: [...status],
  built,
});
const cut = (text: string): { text: string; truncated: boolean } => ({
  text: text.length > longestText ? `${text.slice(0, longestText)}…` : text,
  truncated: text.length > longestText,
});

const searchLaws = defineLawTool({
  name: 'legal_search_laws',
  title: 'German laws by title',
  description:
    'Finds German federal laws by words of their title or by abbreviation. Use it first when you do not know the abbreviation of a law.',
  input: { query: z.string().min(1).max(300), max_results: z.int().min(1).max(50).default(10) },
  output: {
    total: z.int().describe('laws that match'),
    laws: z.array(z.strictObject({ name: z.string().describe('to be given as `law` to the other tools'), title: z.string() })),
  },
  async ask({ query, max_results }, library, signal) {
    termsOf(query);
    const found = searchTitles(await library.contents(signal), query, max_results);
    return { total: found[0]?.total ?? 0, laws: found.map(({ entry: { slug, title } }) => ({ name: slug, title })) };
  },
});

const lawOverview = defineLawTool({
  name: 'legal_get_law_overview',
  title: 'Contents of a German law',
  description: 'Title, dates and the list of paragraphs of a German federal law. Use it to find the right paragraph.',
  input: {
    law: lawArgument,
    max_entries: z.int().min(1).max(500).default(50),
    first_entry: z.int().min(1).default(1).describe('to read on in a long list'),
  },
  output: {
    source,
    entries_in_all: z.int(),
    entries: z.array(z.strictObject({ name: z.string(), title: z.string(), section: z.string() })),
    truncated: z.boolean(),
  },
  async ask({ law: name, max_entries, first_entry }, library, signal) {
    const { entry, law } = await library.find(name, signal);
    const entries = law.norms.slice(first_entry - 1, first_entry - 1 + max_entries);
    return {
      source: sourceOf(entry, law),
      entries_in_all: law.norms.length,
      entries: entries.map(({ name: norm, title, section }) => ({ name: norm, title, section: section.join(' > ') })),
      truncated: first_entry - 1 + entries.length < law.norms.length,
    };
  },
});

const paragraph = defineLawTool({
  name: 'legal_get_paragraph',
  title: 'Text of a German paragraph',
  description:
    'The exact text of a paragraph or article of a German federal law, optionally of one subsection. Quote from it instead of from memory.',
  input: { law: lawArgument, paragraph: z.string().min(1).max(100).describe('such as "433", "§ 433 Abs. 1", "Art. 1", "Anlage 2"') },
  output: {
    source,
    name: z.string(),
    title: z.string(),
    section: z.string(),
    subsection: z.string().optional(),
    text: z.string(),
    truncated: z.boolean(),
  },
  async ask({ law: name, paragraph: wanted }, library, signal) {
    const { entry, law } = await library.find(name, signal);
    const found = findNorm(law.norms, wanted);
    if (!found) {
      const examples = [...law.norms.slice(0, 2), ...law.norms.slice(-1)].map((norm) => norm.name).join(', ');
      throw new Refusal(
        'NOT_FOUND',
        `${law.abbreviation} has no ${quoted(wanted)}; it has ${law.norms.length} entries such as ${examples}. See legal_get_law_overview.`,
      );
    }
    const { norm, subsection } = found;
    const part = subsection === undefined ? norm.text : subsectionOf(norm.text, subsection);
    if (part === null) throw new Refusal('NOT_FOUND', `${norm.name} ${law.abbreviation} has no subsection (${subsection}).`);
    return {
      source: sourceOf(entry, law),
      name: norm.name,
      title: norm.title,
      section: norm.section.join(' > '),
      ...(subsection !== undefined && { subsection }),
      ...cut(part),
    };
  },
});

const fulltextSearch = defineLawTool({
  name: 'legal_fulltext_search',
  title: 'Search in a German law',
  description:
    'Finds the paragraphs of one German federal law that use given words or a "quoted phrase". Use it when you know the law but not the paragraph.',
  input: { law: lawArgument, query: z.string().min(1).max(300), max_results: z.int().min(1).max(50).default(5) },
  output: {
    source,
    total: z.int().describe('entries with at least one of the words'),
    hits: z.array(
      z.strictObject({ name: z.string(), title: z.string(), matched_terms: z.int(), snippet: z.string(), section: z.string() }),
    ),
  },
  async ask({ law: name, query, max_results }, library, signal) {
    termsOf(query);
    const { entry, law } = await library.find(name, signal);
    const { hits, total } = searchNorms(law.norms, query, max_results);
    return {
      source: sourceOf(entry, law),
      total,
      hits: hits.map(({ norm, matched, snippet }) => ({
        name: norm.name,
        title: norm.title,
        matched_terms: matched,
        snippet,
        section: norm.section.join(' > '),
      })),
    };
  },
});

export const lawTools: readonly LawTool[] = [searchLaws, lawOverview, paragraph, fulltextSearch];
