import type { PlannedTask, PlanRequested } from '@conclave/contracts';
import { isExpert } from '@conclave/loop';
import {
  collectionOf,
  documentsCollection,
  factsPurpose,
  type Embedder,
  type KnowledgeGraph,
  type Search,
  type Vectors,
  type VectorScope,
} from '@conclave/ports';
import type { Calls } from '@conclave/calls';
import { bothEnds, questionTerms } from '@conclave/questions';
import { isAbout, mayBearOn, namesTitle } from '@conclave/strategies';
import * as z from 'zod';
import pTimeout from 'p-timeout';
import { journalledJson, type Journalled, type JournalledLook } from './journalled-look.js';

/** Call number of the lookup: above those of a plan's model calls. */
const lookupIndex = 1_002;
/** Milliseconds for all stores together, so that a slow one does not delay the plan for long. Models on the same machine slow it down, too. */
const patienceMs = 1_000;
/** Milliseconds for which "nothing learned" is cached, so that plans of a tenant without knowledge cost nothing extra. */
const nothingLearnedMs = 5_000;
/** Most hits that are compared. */
const mostHits = 5;
/** Cosine distances below which a text is about the question even in other words, by what the embedder reads. */
const nearest = { words: 0.3, sentences: 0.15 } as const;

export interface LookupParts {
  readonly search: Search | null;
  readonly graph: Pick<KnowledgeGraph, 'retrieve' | 'stats'> | null;
  readonly vectors: Vectors | null;
  readonly embedder: Embedder | null;
}

const LookupResult = z.object({
  documents: z.boolean().describe('a passage of a document is about the question'),
  learned: z.boolean().describe('something that was learned before is'),
  late: z.boolean().describe('a store was unavailable or did not answer in time'),
});
export type LookupResult = z.infer<typeof LookupResult>;

type Request = Pick<PlanRequested['data'], 'template' | 'caller'>;
type Look = Omit<JournalledLook, 'index' | 'name' | 'purpose' | 'request'>;

/** Checks whether documents or learned facts cover a question, by full text and vectors, without a model. */
export class Lookup {
  private readonly emptyUntil = new Map<string, number>();

  constructor(
    private readonly parts: LookupParts,
    private readonly maker: Pick<Calls, 'tool'>,
    private readonly withinMs: number = patienceMs,
  ) {}

  /** Whether questions about the world go to a web search, which is too slow for this lookup. */
  searchesWeb({ template }: Request): boolean {
    return this.parts.search?.kind === 'web' && template.capabilities.includes('research');
  }

  /**
   * Returns null if there is nothing to search. `anywhere` also counts a document that only contains a name of the question. A follow-up
   * is covered if it or a question before it is: `texts` are the question and those before it. The journal keeps the result, so that a
   * repeat decides the same.
   */
  async look(
    look: Look,
    request: Request,
    texts: readonly string[],
    where: 'everywhere' | 'anywhere' | 'learned',
  ): Promise<Journalled<LookupResult> | null> {
    // A question is compared with every hit; in a long text its two ends say what is asked.
    const questions = texts.map(bothEnds);
    const fits = where === 'anywhere' ? mayBearOn : isAbout;
    const documents = where === 'learned' ? [] : questions.flatMap((question) => this.documents(request, question, fits));
    const learned = (await this.hasLearned(request)) ? questions.flatMap((question) => this.learned(request, question)) : [];
    if (documents.length + learned.length === 0) return null;
    return journalledJson(
      this.maker,
      { ...look, index: lookupIndex, name: 'lookup', purpose: 'plan.lookup', request: { question: questions.join('\n'), where } },
      LookupResult,
      async () => {
        const signal = AbortSignal.any([look.signal, AbortSignal.timeout(this.withinMs)]);
        const any = async (looks: readonly ((signal: AbortSignal) => Promise<boolean>)[]): Promise<boolean> =>
          (await Promise.all(looks.map((one) => one(signal)))).includes(true);
        // A store that is unavailable or late leaves the question open.
        const all = Promise.all([any(documents), any(learned)]).then(
          ([found, known]): LookupResult => ({ documents: found, learned: known, late: false }),
          (): LookupResult => ({ documents: false, learned: false, late: true }),
        );
        return pTimeout(all, { milliseconds: this.withinMs, fallback: () => ({ documents: false, learned: false, late: true }) });
      },
    );
  }

  private documents({ template, caller }: Request, question: string, fits: typeof isAbout): ((signal: AbortSignal) => Promise<boolean>)[] {
    const { search, vectors, embedder } = this.parts;
    const looks: ((signal: AbortSignal) => Promise<boolean>)[] = [];
    if (search?.kind === 'corpus' && template.capabilities.includes('research'))
      looks.push(async (signal) =>
        (await search.query({ query: question, limit: mostHits, signal })).some(
          ({ title, snippet }) => namesTitle(question, title) || fits(question, `${title} ${snippet}`),
        ),
      );
    if (vectors && embedder && template.capabilities.includes('collections'))
      for (const { name } of template.collections ?? []) {
        const scope = { tenant: caller.tenant, collection: documentsCollection(name, embedder) };
        looks.push((signal) => this.holds(scope, question, signal, fits));
      }
    return looks;
  }

  private learned({ template, caller: { tenant } }: Request, question: string): ((signal: AbortSignal) => Promise<boolean>)[] {
    const { graph, vectors, embedder } = this.parts;
    if (!template.capabilities.includes('graph')) return [];
    const looks: ((signal: AbortSignal) => Promise<boolean>)[] = [];
    if (graph)
      looks.push(async () => {
        const query = { tenant, terms: questionTerms(question), categories: [], limit: 1, maxCharacters: 2_000 };
        const { relations, syntheses } = await graph.retrieve(query);
        return relations.length + syntheses.length > 0;
      });
    if (vectors && embedder)
      looks.push((signal) => this.holds({ tenant, collection: collectionOf(factsPurpose, embedder) }, question, signal));
    return looks;
  }

  private async holds(scope: VectorScope, question: string, signal: AbortSignal, fits = isAbout): Promise<boolean> {
    const { vectors, embedder } = this.parts;
    const said = await vectors!.match(scope, { words: question, limit: mostHits, signal });
    const isHit = (title: string, text: string): boolean => namesTitle(question, title) || fits(question, `${title} ${text}`);
    if (said.hits.some(({ text, metadata }) => isHit(String(metadata['title'] ?? ''), text))) return true;
    const [vector] = await embedder!.embed([question], { signal });
    const { hits } = await vectors!.query(scope, { vector: vector!, limit: 1, signal });
    return hits.some(({ distance }) => distance <= nearest[embedder!.reads ?? 'sentences']);
  }

  /** Whether a tenant has learned anything; false is kept for some seconds. True when unknown: the lookup then decides. */
  private async hasLearned({ template, caller }: Request): Promise<boolean> {
    const { graph, vectors, embedder } = this.parts;
    if (!template.capabilities.includes('graph') || (!graph && !vectors)) return false;
    const { tenant } = caller;
    if ((this.emptyUntil.get(tenant) ?? 0) > performance.now()) return false;
    const counts = Promise.all([
      graph?.stats(tenant).then(({ relations, syntheses }) => relations + syntheses) ?? 0,
      vectors && embedder ? vectors.count({ tenant, collection: collectionOf(factsPurpose, embedder) }) : 0,
    ]).then(
      ([known, facts]) => known + facts > 0,
      () => true,
    );
    const learned = await pTimeout(counts, { milliseconds: this.withinMs, fallback: () => true });
    if (this.emptyUntil.size > 10_000) this.emptyUntil.clear();
    if (!learned) this.emptyUntil.set(tenant, performance.now() + nothingLearnedMs);
    return learned;
  }
}

/** Id of the task that returns learned facts. */
const learnedTask = 'learned';

/**
 * Adds a lookup of learned facts to a plan that has none. It calls no model; its facts go to every expert that gets any evidence or
 * whose needs are not stated.
 */
export function withLearned(tasks: readonly PlannedTask[], query: string | null): readonly PlannedTask[] {
  if (tasks.some(({ capability, id }) => capability === 'graph' || id === learnedTask)) return tasks;
  const hasEvidence = tasks.some(({ capability }) => !isExpert(capability));
  return [
    { id: learnedTask, capability: 'graph', task: 'What was learned before about this question', query, needs: [], metadata_filters: null },
    ...tasks.map((task) =>
      isExpert(task.capability) && (task.needs.length > 0 || !hasEvidence) ? { ...task, needs: [learnedTask, ...task.needs] } : task,
    ),
  ];
}
