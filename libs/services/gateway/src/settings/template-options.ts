import { Inject, Injectable } from '@nestjs/common';
import {
  Failure,
  StoredTemplateOptions,
  type TemplateCheck,
  type TemplateCheckRequest,
  type TemplateItem,
  templateSetting,
  type TemplateView,
} from '@conclave/contracts';
import { readYaml, type YamlSource } from '@conclave/platform';
import { STATE, type StateStore } from '@conclave/ports';
import { faultsOf, knownStrategy, promptFaults } from '@conclave/strategies';
import * as z from 'zod';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { DeliveryTargets } from '../runs/delivery-targets.js';
import { SettingChanges } from './setting-changes.js';

type Options = Record<string, unknown>;
type Fault = TemplateCheck['faults'][number];

/** Options of templates as an operator sees and changes them. */
@Injectable()
export class TemplateOptions {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'catalogue'>,
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings'>,
    @Inject(SettingChanges) private readonly changes: SettingChanges,
    @Inject(DeliveryTargets) private readonly targets: DeliveryTargets,
  ) {}

  /** Offered ones, then those that are switched off. */
  async list(): Promise<readonly TemplateItem[]> {
    const prefix = templateSetting('');
    const stored = await this.state.settings.list(prefix);
    const offered = this.options.catalogue.templates();
    const ids = new Set([...offered.map(({ id }) => id), ...stored.map(({ name }) => name.slice(prefix.length))]);
    return Promise.all(
      [...ids].map(async (id) => {
        const { strategy, changed, version } = await this.summary(id);
        const template = offered.find((one) => one.id === id);
        const { description = '', version: hash = null } = template ?? {};
        return { object: 'template' as const, id, strategy, description, hash, overridden: changed !== null, version };
      }),
    );
  }

  /** Throws MODEL_NOT_FOUND. */
  async view(id: string): Promise<TemplateView> {
    const { strategy, changed, version } = await this.summary(id);
    const offered = this.offered(id);
    return {
      object: 'template',
      id,
      strategy,
      options: offered?.options ?? null,
      changed,
      version,
      resolved: offered ? { ...offered } : null,
      schema: schemaOf(strategy),
      versions: [...(await this.versions(id))],
    };
  }

  /** Replaces all changed options. Throws MODEL_NOT_FOUND, REQUEST_INVALID, PROMPT_INVALID, WEBHOOK_UNKNOWN, SETTING_CHANGED. */
  async change(id: string, options: Options, actor: string, expected: number | null): Promise<TemplateView> {
    const { strategy } = await this.summary(id);
    const read = this.read(strategy, options);
    if (read.failure) throw read.failure;
    await this.changes.write({
      name: templateSetting(id),
      actor,
      value: { strategy, options, actor },
      expected,
      // The audit names the actor beside the values.
      shown: (value) => withoutActor(value),
    });
    await this.options.catalogue.refresh?.();
    return this.view(id);
  }

  /** Says what `change` would refuse, and changes nothing. Throws MODEL_NOT_FOUND. */
  async check(id: string, { options, yaml }: TemplateCheckRequest): Promise<TemplateCheck> {
    const { strategy } = await this.summary(id);
    const source = yaml === undefined ? null : parsedYaml(yaml);
    if (typeof source === 'string') return answer(null, [{ path: '', line: null, message: source }]);
    if (source && source.mistakes.length > 0)
      return answer(
        null,
        source.mistakes.map(({ line, problem, remedy }) => ({ path: '', line, message: `${problem} ${remedy}` })),
      );
    const value = source ? (source.value ?? {}) : options!;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return answer(null, [{ path: '', line: 1, message: 'It must be a list of options with their values.' }]);
    const { faults } = this.read(strategy, value as Options);
    return answer(
      value as Options,
      faults.map(({ path, message }) => ({
        path: path.map(String).join('.'),
        line: source?.position(path).line ?? null,
        message,
      })),
    );
  }

  /** Goes back to a kept version, to the file (0) or, with null, one version. Throws as `change`, and SETTING_VERSION_NOT_FOUND. */
  async rollBack(id: string, version: number | null, actor: string): Promise<TemplateView> {
    const { version: present } = await this.summary(id);
    const wanted = version ?? Math.max(0, present - 1);
    const kept = wanted === 0 ? null : await this.state.settings.readVersion(templateSetting(id), wanted);
    if (wanted !== 0 && !kept) throw new Failure('SETTING_VERSION_NOT_FOUND', `The requested version is ${wanted}.`);
    // A template that was never changed is already as in the file.
    if (present === 0) return this.view(id);
    return this.change(id, kept ? (StoredTemplateOptions.safeParse(kept.value).data?.options ?? {}) : {}, actor, present);
  }

  private offered(id: string) {
    return this.options.catalogue.templates().find((template) => template.id === id);
  }

  private async summary(id: string): Promise<Pick<TemplateView, 'strategy' | 'changed' | 'version'>> {
    const stored = await this.state.settings.read(templateSetting(id));
    const { data } = StoredTemplateOptions.safeParse(stored?.value);
    // A template that is switched off is not offered, and can be switched on again.
    const strategy = this.offered(id)?.strategy ?? data?.strategy;
    if (strategy === undefined) throw new Failure('MODEL_NOT_FOUND', `There is no template "${id}".`);
    return { strategy, changed: data && Object.keys(data.options).length > 0 ? data.options : null, version: stored?.version ?? 0 };
  }

  private async versions(id: string): Promise<TemplateView['versions']> {
    const { settings } = this.state;
    const name = templateSetting(id);
    return Promise.all(
      (await settings.versions(name)).map(async ({ version, at }) => {
        const { data } = StoredTemplateOptions.safeParse((await settings.readVersion(name, version))?.value);
        return { version, at, actor: data?.actor ?? null, options: data?.options ?? {} };
      }),
    );
  }

  /** What is wrong with options, and what `change` throws because of it. */
  private read(strategy: string, options: Options): { readonly faults: readonly RawFault[]; readonly failure: Failure | null } {
    const known = knownStrategy(strategy);
    if (!known) return refused([{ path: [], message: `There is no strategy ${strategy}.` }]);
    const read = known.options.safeParse(options);
    if (!read.success) {
      const faults = read.error.issues.map(({ path, message }) => ({ path, message }));
      return { faults, failure: new Failure('REQUEST_INVALID', faultsOf(read.error).join(' '), { param: 'options' }) };
    }
    const prompts = Object.entries(known.means?.(read.data).prompts ?? {}).flatMap(([name, text]) =>
      promptFaults(name, text).map((message) => ({ path: ['prompts', name], message })),
    );
    if (prompts.length > 0) {
      const said = prompts.map(({ message }) => message).join(' ');
      return { faults: prompts, failure: new Failure('PROMPT_INVALID', said, { param: 'options.prompts' }) };
    }
    try {
      this.targets.check(known.delivers?.(read.data) ?? []);
    } catch (error) {
      if (error instanceof Failure) return { faults: [{ path: [], message: error.message }], failure: error };
      throw error;
    }
    return { faults: [], failure: null };
  }
}

interface RawFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const refused = (faults: readonly RawFault[]) => ({
  faults,
  failure: new Failure('REQUEST_INVALID', faults.map(({ message }) => message).join(' '), { param: 'options' }),
});

const answer = (changed: Options | null, faults: readonly Fault[]): TemplateCheck => ({
  object: 'template_check',
  valid: faults.length === 0,
  faults: [...faults],
  changed,
});

/** A sentence for a text whose aliases stand for more than is read. */
function parsedYaml(text: string): YamlSource | string {
  try {
    return readYaml(text, 'options');
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}.`;
  }
}

function withoutActor(value: unknown): unknown {
  const { data } = StoredTemplateOptions.safeParse(value);
  return data ? { strategy: data.strategy, options: data.options } : value;
}

function schemaOf(strategy: string): Options {
  const options = knownStrategy(strategy)?.options;
  if (!options) return {};
  const { $schema: _, ...schema } = z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' });
  return schema;
}
