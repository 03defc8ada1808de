import { relationSentence, type Fact, type RelationType, type Source } from '@conclave/contracts';
import { bounded, filteredMemory, oneLine } from '@conclave/strategies';

/** The part of a retrieval from the knowledge graph that a prompt shows. */
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
/** Most runs named in the source of an insight; the graph has all of them. */
const namedRuns = 8;

/** Facts of a context: insights from earlier answers first, then relations as sentences, each with its trust as confidence. */
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

/** Facts that a lookup found, up to `maxCharacters` of text. */
export function filteredFacts(
  facts: readonly Fact[],
  maxCharacters: number,
  at: { readonly taskId: string; readonly epoch: number },
): readonly Fact[] {
  const kept: Fact[] = [];
  let left = maxCharacters;
  for (const fact of facts) {
    const text = oneLine(fact.text);
    if (text.length > left) continue;
    left -= text.length;
    kept.push({ ...fact, text, ...at });
  }
  return kept;
}

/** The context as shown in the thought stream. */
export const contextText = (facts: readonly Fact[]): string =>
  facts
    .map(({ text, confidence, source }) => {
      const mark = source.kind === 'memory' ? `${filteredMemory} ` : '';
      return `- ${mark}${text}${confidence === null ? '' : ` (trust ${confidence})`}`;
    })
    .join('\n');
