import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure, type ForkRequest, type RunFactList, type Template } from '@conclave/contracts';
import { forkAfter, type RecordedStep, toldFacts } from '@conclave/loop';
import { EVENT_LOG, type EventLog } from '@conclave/ports';
import { staysLocal } from '@conclave/platform';
import { knownStrategy, strategyOf } from '@conclave/strategies';
import type { MayAsk } from '../http/caller.js';
import { ModelDirectory } from '../models/model-directory.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import type { CheckedFork } from './checked-request.js';
import { modelsOfTask, type TodaysModels, withModels } from './fork-models.js';
import { recordedOf } from './recorded.js';
import { RunDirectory } from './run-directory.js';

/** Runs as recorded on the log: their facts, and what a fork or rerun begins with. */
@Injectable()
export class Forks {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
    @Inject(ModelDirectory) private readonly models: ModelDirectory,
  ) {}

  /** Every fact of a run of the caller's tenant, in order. Throws RUN_NOT_FOUND. */
  async facts(id: string, caller: Caller): Promise<RunFactList> {
    const { runId } = await this.runs.header(id, caller);
    const steps = await this.stepsOf(runId);
    return {
      object: 'list',
      runId,
      data: [...toldFacts(steps)],
    };
  }

  /**
   * What a fork of this run after this step begins with. Throws RUN_NOT_FOUND, MODEL_NOT_FOUND, PROVIDER_UNREACHABLE, and FORK_REFUSED with the
   * steps that are allowed, or with what is missing.
   */
  async checked(
    id: string,
    caller: Caller,
    { step, model }: ForkRequest,
    mayAsk: MayAsk,
  ): Promise<Pick<CheckedFork, 'of' | 'template' | 'caller' | 'begins'>> {
    const { runId, data: recorded } = await this.runs.header(id, caller);
    // A caller that may not use a template cannot continue its runs with other models either.
    await this.models.assertAskable(recorded.template, mayAsk);
    if (!knownStrategy(recorded.template.strategy)) throw refused(`The strategy ${recorded.template.strategy} no longer exists.`);
    const steps = whole(await this.stepsOf(runId), step);
    const today = await this.modelsFor(recorded.template, model ?? null, mayAsk);
    const children = recorded.children ?? {};
    if (recorded.template.local_only)
      for (const models of [today, ...Object.values(children).map((child) => this.childModels(child, today))])
        await this.assertLocal(models);
    const known = await this.knownOfModels();
    const template = withModels(recorded.template, today, known);
    const take = (newId: string) =>
      forkAfter(steps, {
        ...{ of: runId, runId: newId, strategies: strategyOf },
        modelsOf: (wish) => modelsOfTask(wish, template),
      });
    if (taken(() => take(runId)) === null)
      throw refused(
        step === 1
          ? 'It ended in its first step, so nothing follows that could be done differently.'
          : `It ended in step ${step}: choose one from 1 to ${step - 1}.`,
      );
    const { goal, conversation, system, limits, answer, attachments, documents, skill, complexity, clientTools } = recorded;
    return {
      of: runId,
      template,
      caller,
      begins: (newId) => ({
        ...{ goal, conversation, system, limits, answer, attachments, documents, skill, complexity },
        ...(clientTools ? { clientTools } : {}),
        ...(recorded.children
          ? { children: mapValues(children, (child) => withModels(child, this.childModels(child, today), known)) }
          : {}),
        // Its answer is an experiment: no cache answers it, none stores it, and its child runs teach nothing either.
        caching: null,
        unlearned: true as const,
        fork: take(newId)!,
      }),
    };
  }

  /**
   * What a rerun, the same question for another template, begins with. It neither reads from caches nor writes to them; `teaches`: memory and
   * graph may learn from it. Throws RUN_NOT_FOUND, RUN_ERASED, MODEL_NOT_FOUND, FORK_REFUSED.
   */
  async again(
    id: string,
    caller: Caller,
    name: string,
    { mayAsk, teaches }: { readonly mayAsk: MayAsk; readonly teaches: boolean },
  ): Promise<Pick<CheckedFork, 'of' | 'template' | 'caller' | 'begins'>> {
    const { runId, data: recorded } = await this.runs.header(id, caller);
    const today = await this.models.resolve(name, caller.tenant, Buffer.from(recorded.goal), mayAsk);
    if (today.kind !== 'template') throw new Failure('FORK_REFUSED', `${name} is a model: name a template.`, { param: 'template' });
    const { template } = today;
    if (recorded.template.local_only) await this.assertLocal(today);
    const children = await this.models.startedBy(template, caller.tenant);
    const { goal, conversation, system, answer, attachments, documents, skill, complexity } = recorded;
    const unlearned = teaches ? recorded.unlearned : (true as const);
    return {
      of: runId,
      template,
      caller,
      begins: () => ({
        ...{ goal, conversation, system, limits: template.limits, answer, attachments, documents, skill, complexity, unlearned },
        ...(Object.keys(children).length > 0 ? { children } : {}),
        caching: null,
      }),
    };
  }

  /** Recorded steps of a run, in order, each once. */
  private async stepsOf(runId: string): Promise<readonly RecordedStep[]> {
    return (await recordedOf(this.log, runId)).steps.map(({ data }) => data);
  }

  private async modelsFor(recorded: Template, model: string | null, mayAsk: MayAsk): Promise<TodaysModels> {
    try {
      return await (model === null ? this.models.named(recorded.id, null) : this.models.named(model, mayAsk));
    } catch (error) {
      if (model !== null || !(error instanceof Failure) || error.code !== 'MODEL_NOT_FOUND') throw error;
      const why = `The template ${recorded.id} is no longer offered. Name a model for its calls, or a template whose models make them.`;
      throw new Failure('FORK_REFUSED', why, { param: 'model', cause: error });
    }
  }

  /** Throws FORK_REFUSED if models of a `local_only` run would be outside the local machine. */
  private async assertLocal(today: TodaysModels): Promise<void> {
    const isLocal =
      today.kind === 'template'
        ? today.template.local_only === true
        : await this.areLocal(today.kind === 'model' ? [today.ref] : today.models);
    if (isLocal) return;
    throw new Failure(
      'FORK_REFUSED',
      'The template of the run is `local_only`: name a model of this network, or a template that is so, too.',
      {
        param: 'model',
      },
    );
  }

  private async areLocal(refs: readonly string[]): Promise<boolean> {
    const providers = await this.options.models.providers();
    return refs.every((ref) => staysLocal(ref, providers));
  }

  private childModels({ id }: Template, today: TodaysModels): TodaysModels {
    const template = today.kind !== 'template' ? undefined : this.options.catalogue.templates().find((other) => other.id === id);
    return template ? { kind: 'template', template } : today;
  }

  /** Prices and context lengths from today's templates and model servers. */
  private async knownOfModels(): Promise<Pick<Template, 'prices' | 'contexts'>> {
    const listed = await this.models.models();
    const templates = this.options.catalogue.templates();
    return {
      prices: Object.assign(
        {},
        ...listed.map(({ ref, price }) => (price ? { [ref]: price } : {})),
        ...templates.map(({ prices }) => prices),
      ),
      contexts: Object.assign(
        {},
        ...listed.map(({ ref, context }) => (context ? { [ref]: context } : {})),
        ...templates.map(({ contexts }) => contexts),
      ),
    };
  }
}

const refused = (why: string): Failure => new Failure('FORK_REFUSED', why, { param: 'step' });

/** The steps up to this one. Throws FORK_REFUSED when one is missing. */
function whole(steps: readonly RecordedStep[], step: number): readonly RecordedStep[] {
  const last = steps.at(-1)?.version ?? 0;
  if (last === 0) throw refused('None of its steps is on the log: it has not started, or they have expired.');
  if (step > last) throw refused(`It has ${last} ${last === 1 ? 'step' : 'steps'}, so there is no step ${step}.`);
  const upTo = steps.filter(({ version }) => version <= step);
  const gap = upTo.findIndex(({ version }, index) => version !== index + 1);
  if (gap >= 0 || upTo.length < step) throw refused(`Its step ${(gap < 0 ? upTo.length : gap) + 1} is no longer on the log.`);
  return upTo;
}

/** Throws FORK_REFUSED when this version cannot read the recorded facts. */
function taken<T>(take: () => T): T {
  try {
    return take();
  } catch (error) {
    throw new Failure('FORK_REFUSED', 'Its facts were recorded by another version and cannot be read by this one.', { cause: error });
  }
}

const mapValues = <V>(values: Readonly<Record<string, V>>, map: (value: V) => V): Record<string, V> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
