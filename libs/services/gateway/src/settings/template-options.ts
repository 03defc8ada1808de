import { Inject, Injectable } from '@nestjs/common';
import { Failure, StoredTemplateOptions, templateSetting, type TemplateView } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import { faultsOf, knownStrategy, promptFaults } from '@conclave/strategies';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { DeliveryTargets } from '../runs/delivery-targets.js';
import { SettingChanges } from './setting-changes.js';

/** Options of templates as an operator sees and changes them. */
@Injectable()
export class TemplateOptions {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'catalogue'>,
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings'>,
    @Inject(SettingChanges) private readonly changes: SettingChanges,
    @Inject(DeliveryTargets) private readonly targets: DeliveryTargets,
  ) {}

  /** Throws MODEL_NOT_FOUND. */
  async view(id: string): Promise<TemplateView> {
    const stored = await this.state.settings.read(templateSetting(id));
    const { data } = StoredTemplateOptions.safeParse(stored?.value);
    const offered = this.options.catalogue.templates().find((template) => template.id === id);
    // A template that is switched off is not offered, and can be switched on again.
    const strategy = offered?.strategy ?? data?.strategy;
    if (strategy === undefined) throw new Failure('MODEL_NOT_FOUND', `There is no template "${id}".`);
    const changed = data && Object.keys(data.options).length > 0 ? data.options : null;
    return { object: 'template', id, strategy, options: offered?.options ?? null, changed, version: stored?.version ?? 0 };
  }

  /** Replaces all changed options. Throws MODEL_NOT_FOUND, REQUEST_INVALID, PROMPT_INVALID, WEBHOOK_UNKNOWN, SETTING_CHANGED. */
  async change(id: string, options: Record<string, unknown>, actor: string, expected: number | null): Promise<TemplateView> {
    const { strategy } = await this.view(id);
    const known = knownStrategy(strategy);
    const read = known?.options.safeParse(options);
    if (!known || !read?.success)
      throw new Failure('REQUEST_INVALID', read?.error ? faultsOf(read.error).join(' ') : `There is no strategy ${strategy}.`, {
        param: 'options',
      });
    for (const [name, text] of Object.entries(known.means?.(read.data).prompts ?? {})) {
      const faults = promptFaults(name, text);
      if (faults.length > 0) throw new Failure('PROMPT_INVALID', faults.join(' '), { param: 'options.prompts' });
    }
    this.targets.check(known.delivers?.(read.data) ?? []);
    await this.changes.write({ name: templateSetting(id), actor, value: { strategy, options }, expected });
    await this.options.catalogue.refresh?.();
    return this.view(id);
  }
}
