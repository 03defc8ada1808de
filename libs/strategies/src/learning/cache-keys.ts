import type { PlanRequested, Template } from '@conclave/contracts';
import { normaliseQuestion } from '@conclave/questions';

/** Everything that determines the answer or plan of a question. */
export type CacheQuery = Pick<PlanRequested['data'], 'goal' | 'conversation' | 'system' | 'answer'> & {
  readonly tenant: string;
  readonly template: Pick<Template, 'id' | 'version' | 'max_agentic_rounds' | 'capabilities' | 'tools' | 'collections' | 'experts'>;
  /** Complexity level set by the request, or null. */
  readonly complexity: PlanRequested['data']['complexity'];
  /** Mark of the current contents of the folder of documents; absent if the template does not search it, or if the mark is unknown. */
  readonly contents?: string | undefined;
  /** Day of the request; absent if the answer does not depend on it. */
  readonly day?: string | undefined;
};

/** Sorts keys, so that their order does not matter. */
const ordered = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(ordered)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, member]) => member !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, member]) => [name, ordered(member)]),
        )
      : value;
const textOf = (parts: readonly unknown[]): string => JSON.stringify(ordered(parts));

/** Earlier turns and the client's instructions: a different history makes a different question. */
const historyOf = ({ conversation, system }: CacheQuery): unknown => [conversation.map(({ role, content }) => [role, content]), system];

/** Whether nothing precedes the question: only then can another wording be the same question. */
export const isWithoutHistory = ({ conversation, system }: Pick<CacheQuery, 'conversation' | 'system'>): boolean =>
  conversation.length === 0 && (system === null || system.trim() === '');

/**
 * Template and parameters, which determine who answers and in which form, the documents that are searched, and the day if it matters. A template's version covers
 * its models.
 */
const madeBy = ({ template, answer, complexity, contents, day }: CacheQuery): unknown => [
  template.id,
  template.version,
  template.max_agentic_rounds,
  answer,
  complexity ?? null,
  ...(contents === undefined ? [] : [contents]),
  ...(day === undefined ? [] : [{ day }]),
];

/**
 * Text whose hash is the key of the exact answer cache: tenant, template with its version, question, history, and the
 * parameters that change the text of an answer.
 */
export const exactAnswerText = (asked: CacheQuery): string =>
  textOf(['answer', asked.tenant, madeBy(asked), normaliseQuestion(asked.goal), historyOf(asked)]);

/** Text whose hash is the scope of a semantic entry: everything in the exact key except the question; there is no history. */
export const answerScopeText = (asked: CacheQuery): string => textOf(['scope', asked.tenant, madeBy(asked)]);

/** Text whose hash is the key of the plan cache: depends on what may be planned, not on the parameters of the answer. */
export function planText(asked: CacheQuery): string {
  const { template } = asked;
  const catalogue = [
    Object.keys(template.experts).sort(),
    [...template.capabilities].sort(),
    (template.tools ?? []).map(({ name, description, signature }) => [name, description, signature]),
    (template.collections ?? []).map(({ name, description }) => [name, description]),
  ];
  return textOf([
    'plan',
    asked.tenant,
    template.id,
    template.version,
    catalogue,
    asked.complexity ?? null,
    normaliseQuestion(asked.goal),
    historyOf(asked),
    ...(asked.day === undefined ? [] : [{ day: asked.day }]),
  ]);
}
