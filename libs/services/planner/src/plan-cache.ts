import { createHash } from 'node:crypto';
import type { PlanRequested } from '@conclave/contracts';
import type { StateStore } from '@conclave/ports';
import type { Calls } from '@conclave/calls';
import { keptMs, KeptPlan, planText, runTag } from '@conclave/strategies';
import { journalledJson, type Journalled, type JournalledLook } from './journalled-look.js';

type Request = PlanRequested['data'];

/** Number of the call that looks a plan up: far above those of the model calls of one plan. */
const lookIndex = 1_000;

export const planKey = (request: Request): string =>
  `plan/${createHash('sha256')
    .update(planText({ ...request, tenant: request.caller.tenant, complexity: request.complexity }))
    .digest('hex')}`;

/** Whether plans of this request may come from the cache and go into it. A plan for a picture belongs to the picture. */
export const mayCachePlan = ({ template, caching, attachments }: Request): boolean =>
  (template.caches?.plan ?? false) && Boolean(caching) && (attachments ?? []).length === 0;

/** Plans of first rounds (moe.md, Planner). A re-plan neither reads nor writes here: it answers a gap, not the question. */
export class PlanCache {
  constructor(
    private readonly caches: Pick<StateStore['caches'], 'read' | 'write'>,
    private readonly maker: Pick<Calls, 'tool'>,
  ) {}

  /**
   * The plan that an equal question got; null for none. The journal keeps what was found: a repeat takes the same plan, even when the
   * cache has changed meanwhile.
   */
  find(look: Omit<JournalledLook, 'index' | 'name' | 'purpose' | 'request'>, request: Request): Promise<Journalled<KeptPlan | null>> {
    const key = planKey(request);
    return journalledJson(
      this.maker,
      { ...look, index: lookIndex, name: 'cache.plan', purpose: 'plan.cache', request: { key } },
      KeptPlan.nullable(),
      async () => {
        const read = KeptPlan.safeParse((await this.caches.read(request.caller.tenant, key))?.value);
        return read.success ? read.data : null;
      },
    );
  }

  /** Goes with its run: a bad rating takes the plan away too. */
  async keep(runId: string, request: Request, plan: KeptPlan): Promise<void> {
    await this.caches.write({
      tenant: request.caller.tenant,
      key: planKey(request),
      value: plan,
      ttlMs: keptMs.plan,
      tags: [runTag(runId)],
    });
  }
}
