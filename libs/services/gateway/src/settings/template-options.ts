import { Inject, Injectable } from '@nestjs/common';
import {
  Failure,
  StoredTemplateOptions,
  type TemplateCheck,
  type TemplateCheckRequest,
  type TemplateItem,
  templateSetting,
  TemplateTuning,
  type TemplateView,
} from '@conclave/contracts';
import { readYaml, type YamlSource } from '@conclave/platform';
import { STATE, type StateStore } from '@conclave/ports';
import { faultsOf, knownStrategy, promptFaults } from '@conclave/strategies';
import * as z from 'zod';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { DeliveryTargets } from '../runs/delivery-targets.js';
import { SettingChanges } from './setting-changes.js';

type OptionValues = Record<string, unknown>;
/** The changes of a template: options of its strategy, and other settings. */
interface Change {
  readonly options: OptionValues;
  readonly settings: TemplateTuning;
}
type Fault = TemplateCheck['faults'][number];

/** Templates as an operator sees and changes them: options of the strategy, models, limits and rounds. */
@Injectable()
export class TemplateOptions {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'catalogue'>,
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings'>,
    @Inject(SettingChanges) private readonly changes: SettingChanges,
    @Inject(DeliveryTargets) private readonly targets: DeliveryTargets,
  ) {}

  /** Offered templates, then those that are switched off. */
  async list(): Promise<readonly TemplateItem[]> {
    const prefix = templateSetting('');
    const stored = await this.state.settings.list(prefix);
    const offered = this.options.catalogue.templates();
    const ids = new Set([...offered.map(({ id }) => id), ...stored.map(({ name }) => name.slice(prefix.length))]);
    return Promise.all(
      [...ids].map(async (id) => {
        const { strategy, changed, settings, version } = await this.summary(id);
        const template = offered.find((one) => one.id === id);
        const { description = '', version: hash = null } = template ?? {};
        return {
          object: 'template' as const,
          id,
          strategy,
          description,
          hash,
          overridden: changed !== null || !isEmpty(settings),
          version,
        };
      }),
    );
  }

  /** Throws MODEL_NOT_FOUND. */
  async view(id: string): Promise<TemplateView> {
    const { strategy, changed, settings, version } = await this.summary(id);
    const offered = this.offered(id);
    return {
      object: 'template',
      id,
      strategy,
      options: offered?.options ?? null,
      changed,
      settings,
      version,
      resolved: offered ? { ...offered } : null,
      schema: schemaOf(knownStrategy(strategy)?.options),
      settingsSchema: schemaOf(TemplateTuning),
      models: [...((await this.options.catalogue.modelsFor?.(id)) ?? [])],
      versions: [...(await this.versions(id))],
    };
  }

  /**
   * Replaces all changes; without `settings` only the options. Throws MODEL_NOT_FOUND, REQUEST_INVALID, PROMPT_INVALID, WEBHOOK_UNKNOWN,
   * SETTING_CHANGED.
   */
  async change(
    id: string,
    { options, settings: wanted }: { readonly options: OptionValues; readonly settings?: TemplateTuning | undefined },
    actor: string,
    expected: number | null,
  ): Promise<TemplateView> {
    const { strategy, settings: present } = await this.summary(id);
    const settings = wanted ?? present;
    const read = await this.read(id, strategy, { options, settings });
    if (read.failure) throw read.failure;
    await this.changes.write({
      name: templateSetting(id),
      actor,
      value: { strategy, options, ...(isEmpty(settings) ? {} : { settings }), actor },
      expected,
      // The audit names the actor beside the values.
      shown: (value) => withoutActor(value),
    });
    await this.options.catalogue.refresh?.();
    return this.view(id);
  }

  /** Reports what `change` would refuse, without changing anything. Throws MODEL_NOT_FOUND. */
  async check(id: string, { options = {}, settings: given = {}, yaml }: TemplateCheckRequest): Promise<TemplateCheck> {
    const { strategy } = await this.summary(id);
    const source = yaml === undefined ? null : parsedYaml(yaml);
    if (typeof source === 'string') return answer(null, [{ path: '', line: null, message: source }]);
    if (source && source.mistakes.length > 0)
      return answer(
        null,
        source.mistakes.map(({ line, problem, remedy }) => ({ path: '', line, message: `${problem} ${remedy}` })),
      );
    const value = source ? (source.value ?? {}) : { options, ...given };
    if (!isObject(value)) return answer(null, [{ path: '', line: 1, message: 'It must be a list of settings with their values.' }]);
    const { options: read = {}, ...rest } = value;
    if (!isObject(read))
      return answer(null, [
        { path: 'options', line: source?.position(['options']).line ?? null, message: 'It must be a list of options with their values.' },
      ]);
    const settings = TemplateTuning.safeParse(rest);
    const faults = settings.success
      ? (await this.read(id, strategy, { options: read, settings: settings.data })).faults
      : [...settings.error.issues.map(faultOf), ...(await this.read(id, strategy, { options: read, settings: {} })).faults];
    return answer(
      { options: read, settings: rest },
      faults.map(({ path, message }) => ({
        path: path.map(String).join('.'),
        line: source?.position(path).line ?? null,
        message,
      })),
    );
  }

  /** Goes back to a kept version, to the file (0) or, with null, by one version. Throws as `change`, and SETTING_VERSION_NOT_FOUND. */
  async rollBack(id: string, version: number | null, actor: string): Promise<TemplateView> {
    const { version: present } = await this.summary(id);
    const wanted = version ?? Math.max(0, present - 1);
    const kept = wanted === 0 ? null : await this.state.settings.readVersion(templateSetting(id), wanted);
    if (wanted !== 0 && !kept) throw new Failure('SETTING_VERSION_NOT_FOUND', `The requested version is ${wanted}.`);
    // A template that was never changed is already as in the file.
    if (present === 0) return this.view(id);
    const { options = {}, settings = {} } = (kept && StoredTemplateOptions.safeParse(kept.value).data) ?? {};
    return this.change(id, { options, settings }, actor, present);
  }

  private offered(id: string) {
    return this.options.catalogue.templates().find((template) => template.id === id);
  }

  private async summary(id: string): Promise<Pick<TemplateView, 'strategy' | 'changed' | 'settings' | 'version'>> {
    const stored = await this.state.settings.read(templateSetting(id));
    const { data } = StoredTemplateOptions.safeParse(stored?.value);
    // A template that is switched off is not offered, and can be switched on again.
    const strategy = this.offered(id)?.strategy ?? data?.strategy;
    if (strategy === undefined) throw new Failure('MODEL_NOT_FOUND', `There is no template "${id}".`);
    const changed = data && !isEmpty(data.options) ? data.options : null;
    return { strategy, changed, settings: data?.settings ?? {}, version: stored?.version ?? 0 };
  }

  private async versions(id: string): Promise<TemplateView['versions']> {
    const { settings } = this.state;
    const name = templateSetting(id);
    return Promise.all(
      (await settings.versions(name)).map(async ({ version, at }) => {
        const { data } = StoredTemplateOptions.safeParse((await settings.readVersion(name, version))?.value);
        return { version, at, actor: data?.actor ?? null, options: data?.options ?? {}, settings: data?.settings ?? {} };
      }),
    );
  }

  /** The faults of a change, and the error that `change` throws because of them. */
  private async read(
    id: string,
    strategy: string,
    { options, settings }: Change,
  ): Promise<{ readonly faults: readonly RawFault[]; readonly failure: Failure | null }> {
    const known = knownStrategy(strategy);
    if (!known) return refused([{ path: [], message: `There is no strategy ${strategy}.` }], 'options');
    const found = (await this.options.catalogue.tuningFaults?.(id, strategy, settings)) ?? [];
    const ofSettings = found.length > 0 ? refused(found, `settings.${found[0]!.path.map(String).join('.')}`) : null;
    const read = known.options.safeParse(options);
    if (!read.success) {
      const faults = read.error.issues.map(faultOf).map(({ path, message }) => ({ path: ['options', ...path], message }));
      const failure = new Failure('REQUEST_INVALID', faultsOf(read.error).join(' '), { param: 'options' });
      return { faults: [...faults, ...(ofSettings?.faults ?? [])], failure };
    }
    const means = known.means?.(read.data) ?? {};
    const prompts = Object.entries(means.prompts ?? {}).flatMap(([name, text]) =>
      promptFaults(name, text).map((message) => ({ path: ['options', 'prompts', name], message })),
    );
    if (prompts.length > 0) {
      const said = prompts.map(({ message }) => message).join(' ');
      return { faults: prompts, failure: new Failure('PROMPT_INVALID', said, { param: 'options.prompts' }) };
    }
    try {
      this.targets.check(known.delivers?.(read.data) ?? []);
    } catch (error) {
      if (error instanceof Failure) return { faults: [{ path: ['options'], message: error.message }], failure: error };
      throw error;
    }
    if (ofSettings) return ofSettings;
    const named = means.models
      ? ((await this.options.catalogue.tuningFaults?.(id, strategy, { judge: { models: [...means.models] } })) ?? [])
      : [];
    if (named.length > 0)
      return refused(
        named.map(({ message }) => ({ path: ['options'], message })),
        'options',
      );
    return { faults: [], failure: null };
  }
}

interface RawFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const refused = (faults: readonly RawFault[], param: string) => ({
  faults,
  failure: new Failure('REQUEST_INVALID', faults.map(({ message }) => message).join(' '), { param }),
});

const answer = (
  read: { readonly options: OptionValues; readonly settings: OptionValues } | null,
  faults: readonly Fault[],
): TemplateCheck => ({
  object: 'template_check',
  valid: faults.length === 0,
  faults: [...faults],
  changed: read?.options ?? null,
  settings: read?.settings ?? null,
});

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
const isObject = (value: unknown): value is OptionValues => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A fault with its position; the position of an unknown setting is the setting itself, not the object that contains it. */
function faultOf(issue: z.core.$ZodIssue): RawFault {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  return { path: [...issue.path, ...unknown], message: issue.message };
}

/** A sentence for a YAML text whose aliases expand to more than is allowed. */
function parsedYaml(text: string): YamlSource | string {
  try {
    return readYaml(text, 'template');
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}.`;
  }
}

function withoutActor(value: unknown): unknown {
  const { data } = StoredTemplateOptions.safeParse(value);
  if (!data) return value;
  const { actor: _, ...shown } = data;
  return shown;
}

function schemaOf(shape: z.ZodType | undefined): OptionValues {
  if (!shape) return {};
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return schema;
}
