import type { PlanRequested, Template } from '@conclave/contracts';
import { normaliseQuestion } from '@conclave/questions';

/** What decides which answer or plan a question gets. */
export type CacheQuery = Pick<PlanRequested['data'], 'goal' | 'conversation' | 'system' | 'answer'> & {
  readonly tenant: string;
  readonly template: Pick<Template, 'id' | 'version' | 'max_agentic_rounds' | 'capabilities' | 'tools' | 'collections' | 'experts'>;
  /** Level that the request asks for, or null. */
  readonly complexity: PlanRequested['data']['complexity'];
};

/** Values whose order of keys does not matter, as one text. */
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

/** The turns before the question and the client's instructions: another history is another question. */
const historyOf = ({ conversation, system }: CacheQuery): unknown => [conversation.map(({ role, content }) => [role, content]), system];

/** Whether nothing stands before the question: only then can another wording of it be the same question. */
export const isWithoutHistory = ({ conversation, system }: Pick<CacheQuery, 'conversation' | 'system'>): boolean =>
  conversation.length === 0 && (system === null || system.trim() === '');

/** Template and parameters: what a question is answered by and in which form. The version of a template covers its models. */
const madeBy = ({ template, answer, complexity }: CacheQuery): unknown => [
  template.id,
  template.version,
  template.max_agentic_rounds,
  answer,
  complexity ?? null,
];

/**
 * Text that the key of the exact answer cache is the hash of (moe.md, Caches): tenant, template with its version, question, history, and
 * the parameters that change the text of an answer. Equal texts are the same question, asked of the same in the same place.
 */
export const exactAnswerText = (asked: CacheQuery): string =>
  textOf(['answer', asked.tenant, madeBy(asked), normaliseQuestion(asked.goal), historyOf(asked)]);

/** Text that the scope of a semantic entry is the hash of: everything of the exact key but the question, which has no history. */
export const answerScopeText = (asked: CacheQuery): string => textOf(['scope', asked.tenant, madeBy(asked)]);

/** Text that the key of the plan cache is the hash of: the parameters of the answer do not change a plan, what may be planned does. */
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
  ]);
}
