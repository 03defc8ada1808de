import { relationSentence, type Fact, type RelationType, type Source } from '@conclave/contracts';
import { bounded, oneLine } from '@conclave/strategies';

/** What a retrieval of the knowledge graph found, as far as a prompt shows it. */
export interface FoundKnowledge {
  readonly relations: readonly {
    readonly subject: string;
    readonly relation: RelationType;
    readonly object: string;
    readonly trust: number;
  }[];
  readonly syntheses: readonly { readonly id: string; readonly text: string; readonly trust: number; readonly runs: readonly string[] }[];
}

const longestTitle = 120;
/** Runs of an insight that its source names; all of them stand in the graph. */
const namedRuns = 8;

/** Facts of a context: what was learned from earlier answers first, then relations as sentences, each with its trust as confidence. */
export function graphFacts(
  { relations, syntheses }: FoundKnowledge,
  at: { readonly taskId: string; readonly epoch: number },
): readonly Fact[] {
  const fact = (text: string, title: string, trust: number, more: Pick<Source, 'insight'> = {}): Fact => ({
    text: oneLine(text),
    source: { kind: 'graph', title: bounded(oneLine(title), longestTitle), url: null, ...more },
    ...at,
    confidence: Math.min(1, Math.max(0, trust)),
  });
  return [
    ...syntheses.map(({ id, text, trust, runs }) =>
      fact(text, `Earlier insight: ${text}`, trust, { insight: { id, runs: runs.slice(0, namedRuns) } }),
    ),
    ...relations.map((relation) =>
      fact(`${relationSentence(relation)}.`, `${relation.subject} ${relation.relation} ${relation.object}`, relation.trust),
    ),
  ];
}

/** Head of facts that were found by the `metadata_filters` of a plan. */
export const filteredMemory = '[Domain-Filtered Memory]';

/** The same facts, marked, until their texts come to `maxCharacters`. */
export function filteredFacts(
  facts: readonly Fact[],
  maxCharacters: number,
  at: { readonly taskId: string; readonly epoch: number },
): readonly Fact[] {
  const kept: Fact[] = [];
  let left = maxCharacters;
  for (const fact of facts) {
    const text = `${filteredMemory} ${oneLine(fact.text)}`;
    if (text.length > left) continue;
    left -= text.length;
    kept.push({ ...fact, text, ...at });
  }
  return kept;
}

/** The context as people read it in the thought stream. */
export const contextText = (facts: readonly Fact[]): string =>
  facts.map(({ text, confidence }) => `- ${text}${confidence === null ? '' : ` (trust ${confidence})`}`).join('\n');
