import { Fact, Source, type Template } from '@conclave/contracts';
import * as z from 'zod';

/** Options of the strategy in a template. */
export const RagOptions = z.strictObject({
  max_rounds: z.int().min(1).max(10).default(3).describe('passes in all, the first one included'),
  chunks: z.int().min(1).max(5).default(5).describe('passages taken from each collection in one pass'),
  documents: z.int().min(1).max(10).default(10).describe('documents that an exploratory, comparative or deep question looks for first'),
  characters: z.int().min(500).max(8_000).default(8_000).describe('characters read of the best document of a deep question'),
});
export type RagOptions = z.infer<typeof RagOptions>;

/** Options of the run's template, with defaults. */
export const optionsOf = ({ options }: Pick<Template, 'options'>): RagOptions => RagOptions.parse(options ?? {});

/** Most facts taken from the passages of one pass. */
export const factsPerPass = 5;

/** Kinds of questions; they differ in how a pass looks things up. */
export const QuestionClass = z.enum(['factual', 'exploratory', 'deep_dive', 'comparative']);
export type QuestionClass = z.infer<typeof QuestionClass>;

/** A place to look in: a collection, or the configured search. */
export const Place = z.object({ name: z.string(), description: z.string() });
export type Place = z.infer<typeof Place>;

/** Name of the configured search among the collections. */
export const searchPlace = 'research';

/** Everything that runs of this template can look in. */
export function placesOf({ collections = [], capabilities }: Pick<Template, 'collections' | 'capabilities'>): readonly Place[] {
  const offered = capabilities.includes('collections') ? collections : [];
  const searches = capabilities.includes('research') && !offered.some(({ name }) => name === searchPlace);
  return [
    ...offered,
    ...(searches ? [{ name: searchPlace, description: 'the folder of documents or the web search of this system' }] : []),
  ];
}

/** Content of a plan: how and where a pass looks. */
export const RagContent = z.object({
  class: QuestionClass,
  collections: z.array(z.string()).min(1).describe('where it looks'),
  query: z.string().min(1),
});
export type RagContent = z.infer<typeof RagContent>;

/** Input of the router besides the request. */
export const RagAsked = z.object({
  query: z.string().nullable().describe('the refined query; null on the first pass, which looks up the question itself'),
  places: z.array(Place),
});
export type RagAsked = z.infer<typeof RagAsked>;

/** A query of an earlier pass, and its outcome. */
export const Tried = RagContent.extend({ outcome: z.string().describe('for people and models; empty while its pass runs') });
export type Tried = z.infer<typeof Tried>;

/** A passage from which facts are taken. */
export const Passage = z.object({ text: z.string(), source: Source });
export type Passage = z.infer<typeof Passage>;

/** The user's question; for a follow-up also its self-contained wording. */
const Question = z.object({ question: z.string(), readsAs: z.string().nullable() });
const KnownFact = Fact.pick({ text: true, source: true });

export const FactsAsked = Question.extend({
  query: z.string(),
  passages: z.array(Passage),
  taskId: z.string(),
  epoch: z.int(),
});
export type FactsAsked = z.infer<typeof FactsAsked>;

export const AssessAsked = Question.extend({ facts: z.array(KnownFact) });
export type AssessAsked = z.infer<typeof AssessAsked>;

export const RefineAsked = Question.extend({ tried: z.array(Tried), missing: z.array(z.string()), facts: z.array(KnownFact) });
export type RefineAsked = z.infer<typeof RefineAsked>;

/** Whether the facts answer the question. `parsed`: false for the fallback of an unusable reply. */
export const Sufficiency = z.object({
  quality: z.enum(['sufficient', 'partial', 'insufficient']),
  missing: z.array(z.string()),
  parsed: z.boolean(),
});
export type Sufficiency = z.infer<typeof Sufficiency>;

export const Refined = z.object({ query: z.string().min(1) });

/** What `collections.discover` finds. */
export const Discovered = z.object({
  documents: z.array(z.object({ collection: z.string(), document: z.string(), title: z.string(), passage: z.int().nonnegative() })),
});
export type DiscoveredDocument = z.infer<typeof Discovered>['documents'][number];
