import type { PlannedTask, PlanRequested } from '@conclave/contracts';
import type { StateStore } from '@conclave/ports';
import type { Calls } from '@conclave/calls';
import { thompsonOrder, type RandomSource } from './thompson.js';
import * as z from 'zod';
import { journalledJson, type Journalled, type JournalledLook } from './journalled-look.js';

/** Call number of the draw: above those of a plan's model calls. */
const drawIndex = 1_001;

const Choices = z.record(z.string(), z.array(z.string()));
export type Choices = z.infer<typeof Choices>;

const expertPrefix = 'expert.';

/** Categories of the plan with more than one first-tier model, and these models. */
function openCategories(
  tasks: readonly PlannedTask[],
  { template }: PlanRequested['data'],
): readonly (readonly [string, readonly string[]])[] {
  const named = tasks.flatMap(({ capability }) => (capability.startsWith(expertPrefix) ? [capability.slice(expertPrefix.length)] : []));
  return [...new Set(named)].flatMap((category) => {
    const models = Object.hasOwn(template.experts, category) ? [...new Set(template.experts[category]!.t1)] : [];
    return models.length > 1 ? [[category, models] as const] : [];
  });
}

/** Draws the order in which the first-tier models of a plan are tried, by their scores. */
export class ModelChoices {
  constructor(
    private readonly scores: Pick<StateStore['scores'], 'read'>,
    private readonly maker: Pick<Calls, 'tool'>,
    private readonly random: RandomSource,
  ) {}

  /** One draw per plan; the journal keeps it, so that a repeat asks the same models. Null if there is nothing to draw. */
  async draw(
    look: Omit<JournalledLook, 'index' | 'name' | 'purpose' | 'request'>,
    tasks: readonly PlannedTask[],
    request: PlanRequested['data'],
  ): Promise<Journalled<Choices> | null> {
    const open = openCategories(tasks, request);
    if (open.length === 0) return null;
    const { tenant } = request.caller;
    return journalledJson(
      this.maker,
      { ...look, index: drawIndex, name: 'scores.draw', purpose: 'plan.choices', request: Object.fromEntries(open) },
      Choices,
      async () => {
        const drawn: Choices = {};
        for (const [category, models] of open)
          drawn[category] = [...thompsonOrder(await this.scores.read({ tenant, category, models }), this.random)];
        return drawn;
      },
    );
  }
}
