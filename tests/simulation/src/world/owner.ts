import type { Caller, CommandAccepted, CommandRequest } from '@conclave/contracts';
import type { Random } from '../faults/random.js';
import type { ObservedClient, Told } from './observations.js';
import { insist, KeptResponse, requestOf } from './requests.js';
import type { Surroundings } from './surroundings.js';
import { sleep } from './virtual-time.js';

/** What the owner of a run does besides asking. */
export interface OwnerPlan {
  readonly caller: Caller;
  /** Someone of another tenant, who tries the same first; null without one. */
  readonly stranger: Caller | null;
  /** Stars, 1 to 5; null: does not rate. */
  readonly rates: number | null;
  readonly deletes: boolean;
  /** Whether the deletion is also tried while the run is open. */
  readonly deletesEarly: boolean;
  /** Commands for child runs. */
  readonly directs: number;
}

/** Milliseconds between two looks at a run, and for which an owner waits for it. */
const lookMs = 150;
const patienceMs = 120_000;

/** Directs the child runs of a client's run while it is open, then rates and deletes it. Others may follow the run meanwhile. */
export class Owner {
  private readonly random: Random;

  constructor(
    private readonly world: Surroundings,
    private readonly client: ObservedClient,
    private readonly plan: OwnerPlan,
    random: Random,
  ) {
    this.random = random.fork(`owner of ${client.name}`);
  }

  async live(): Promise<void> {
    const { world, plan, random } = this;
    if (!(await this.when(() => this.runId() !== null || this.client.finished))) return;
    const runId = this.runId();
    if (runId === null || world.observations.owned.has(runId)) return;
    world.observations.owned.add(runId);
    if (plan.directs > 0) await this.direct(runId, plan.directs);
    if (plan.deletesEarly) await this.erase(runId);
    if (plan.rates === null && !plan.deletes) return;
    const followers = world.observations.clients.filter(({ requests }) => requests.some((request) => request.runId === runId));
    await this.when(() => world.stores.runs.rows.get(runId)?.terminal === true && followers.every(({ finished }) => finished));
    await sleep(random.between(0, 2_000));
    const rates = plan.rates === null ? Promise.resolve() : this.rate(runId, plan.rates);
    // A rating and a deletion may arrive in either order, and at the same moment.
    if (random.chance(0.5)) await rates;
    if (plan.deletes) await this.erase(runId);
    await rates;
  }

  private runId(): string | null {
    return this.client.requests.find(({ runId }) => runId !== null)?.runId ?? null;
  }

  private async when(isSo: () => boolean): Promise<boolean> {
    const until = Date.now() + patienceMs;
    while (!isSo() && Date.now() < until) await sleep(lookMs);
    return isSo();
  }

  private async direct(runId: string, times: number): Promise<void> {
    const { runs } = this.world.stores;
    for (let n = 0; n < times; n += 1) {
      const isOpen = (id: string): boolean => runs.rows.get(id)?.terminal === false;
      const children = (): string[] =>
        [...runs.rows.values()]
          .filter(({ runId: id, header }) => id.startsWith(`${runId}~`) && header && isOpen(id))
          .map((row) => row.runId);
      if (!(await this.when(() => children().length > 0 || !isOpen(runId))) || children().length === 0) return;
      await sleep(this.random.between(0, 1_500));
      const left = children();
      if (left.length > 0) await this.command(this.random.pick(left));
    }
  }

  private async command(runId: string): Promise<void> {
    const { observations } = this.world;
    const { caller, stranger } = this.plan;
    const wanted = drawCommand(this.random);
    const send = (by: Caller): Promise<Told<CommandAccepted>> =>
      insist(this.world, this.random, async ({ runs }) => {
        const response = new KeptResponse();
        await runs.command(requestOf(by, 'POST /v1/runs/:id/commands', wanted), response.asExpress, runId);
        return response.body as CommandAccepted;
      });
    // Its name in the record of the run tells for whom it was.
    const by = { ...caller, actor: `director@${runId}` };
    const observed = { runId, actor: by.actor, command: wanted.command, told: null as Told<CommandAccepted> | null };
    observations.directed.push(observed);
    if (stranger) observations.strange.push({ what: `${wanted.command} of ${runId}`, told: await send(stranger) });
    observed.told = await send(by);
    if (wanted.command === 'pause') {
      await sleep(this.random.between(100, 4_000));
      await insist(this.world, this.random, async ({ runs }) =>
        runs.command(requestOf(by, 'POST /v1/runs/:id/commands', { command: 'resume' }), new KeptResponse().asExpress, runId),
      );
    }
  }

  private async rate(runId: string, rating: number): Promise<void> {
    const { observations, stores } = this.world;
    const { caller, stranger } = this.plan;
    const rateBy = (by: Caller, stars: number) =>
      insist(this.world, this.random, ({ feedback }) =>
        feedback.rate(requestOf(by, 'POST /v1/feedback', { response_id: runId, rating: stars })),
      );
    if (stranger) observations.strange.push({ what: `rating of ${runId}`, told: await rateBy(stranger, rating) });
    const before = stores.runs.rows.get(runId)!;
    const told = await rateBy(caller, rating);
    const other = this.random.chance(0.4) ? await rateBy(caller, 6 - rating === rating ? 1 : 6 - rating) : null;
    observations.ratings.push({ runId, tenant: caller.tenant, rating, told, other, state: before.erased ? null : before.state });
  }

  private async erase(runId: string): Promise<void> {
    const { observations, stores } = this.world;
    const { caller, stranger } = this.plan;
    const eraseBy = (by: Caller) =>
      insist(this.world, this.random, ({ runs }) => runs.erase(requestOf(by, 'DELETE /v1/runs/:id', {}), runId));
    if (stranger) observations.strange.push({ what: `deletion of ${runId}`, told: await eraseBy(stranger) });
    const wasOpen = stores.runs.rows.get(runId)?.terminal !== true;
    const told = await eraseBy(caller);
    observations.deletions.push({ runId, tenant: caller.tenant, wasOpen, isOpen: stores.runs.rows.get(runId)?.terminal !== true, told });
  }
}

function drawCommand(random: Random): CommandRequest {
  const command = random.pick(['cancel', 'pause', 'resume', 'steer', 'add_context', 'override_step', 'answer'] as const);
  switch (command) {
    case 'cancel':
      return { command, reason: 'this part is not needed' };
    case 'steer':
    case 'add_context':
    case 'answer':
      return { command, text: 'Only the amber one.' };
    case 'override_step':
      return { command, skill: 'none', input: 'Only the amber one.' };
    default:
      return { command };
  }
}
