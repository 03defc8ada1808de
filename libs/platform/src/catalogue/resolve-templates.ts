import { createHash } from 'node:crypto';
import {
  defaultLimits,
  Failure,
  paidCostCap,
  Template,
  type TemplateSettings,
  type CapabilityPolicies,
  type CollectionOffer,
  type Configuration,
  type ExpertProfile,
  type RunLimits,
  type StoredTemplateOptions,
  type ToolOffer,
} from '@conclave/contracts';
import { type ModelInfo, providerNameOf, type ProviderStatus } from '@conclave/ports';
import type * as z from 'zod';
import { chooseModels, type ChosenModels } from './choose-models.js';
import { leaksOf } from './local-only.js';
import { offeredTools, withheldTools } from './offered-tools.js';
import { shipped, wants } from './shipped-templates.js';
import { codeCategories, visionCategory } from './spread-models.js';
import { tuned } from './tuning.js';

export interface TemplateInput {
  readonly configuration: Configuration;
  readonly models: readonly ModelInfo[];
  readonly providers: readonly ProviderStatus[];
  /** Category -> system prompt; includes `general`. */
  readonly expertPrompts: Readonly<Record<string, string>>;
  /** Available strategies. */
  readonly strategies: readonly OfferedStrategy[];
  /** Available capabilities besides experts. */
  readonly capabilities: readonly OfferedCapability[];
  /** Whether `research` has anything to search. */
  readonly canSearch: boolean;
  /** Whether workers can read the knowledge graph. */
  readonly canRecall: boolean;
  readonly offers: Offers;
}

/** A strategy as templates see it: its name, and the schema of its options, each of which has a default. */
export interface OfferedStrategy {
  readonly id: string;
  /** Version of the extension module that contains it; absent for strategies of the product. */
  readonly version?: string;
  readonly options: z.ZodType<Record<string, unknown>>;
  /** Whether it plans tool calls itself: it then gets all offered tools, whatever capabilities its template names. */
  readonly callsTools?: boolean;
  /** What its options imply for the template. */
  means?(options: Record<string, unknown>): TemplateMeaning;
  /** Names of the templates whose runs its runs start, from its options. */
  startsRuns?(options: Readonly<Record<string, unknown>>): readonly string[];
}

/** Settings of a template that the options of its strategy imply. The template's own settings take precedence, except for models. */
export interface TemplateMeaning {
  /** False: the template is not offered. */
  readonly offered?: boolean;
  /** Models of planner and judge. */
  readonly models?: readonly string[];
  readonly limits?: Partial<RunLimits>;
  /** Prompt name -> text in place of the operator's or the shipped one. */
  readonly prompts?: Readonly<Record<string, string>>;
  /** Policies of capabilities and tools by name. */
  readonly policies?: CapabilityPolicies;
  /** Tools that the options name. A template that names no tools allows these. */
  readonly tools?: readonly string[];
}

/** A capability as templates see it. */
export interface OfferedCapability {
  /** Version of the extension module that contains it; absent for capabilities of the product. */
  readonly version?: string;
  readonly name: string;
  /** Class whose workers serve it, unless an operator changes it. */
  readonly taskClass: string;
}

/** Offers to templates that may change while the system runs. */
export interface Offers {
  readonly tools: readonly ToolOffer[];
  readonly collections: readonly CollectionOffer[];
  /** Whether tenants may have their own collections: acceptance adds them to a run, or removes the capability. */
  readonly tenantCollections?: boolean;
  /** Prompt name -> the operator's replacement of the shipped text. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Changes that were made to templates while the system runs, by template. Everything else stays as configured. */
  readonly options?: Readonly<Record<string, StoredTemplateOptions>>;
}
export const noOffers: Offers = { tools: [], collections: [], prompts: {} };

export interface ResolvedTemplates {
  readonly templates: readonly Template[];
  /** Sentences for the start-up text. */
  readonly warnings: readonly string[];
  /** Why `local_only` templates would not stay local and are therefore not offered; a start fails with these. */
  readonly problems: readonly string[];
  readonly choice: ChosenModels;
}

/** Every template with all defaults filled in. Omits, with a warning, a template whose strategy or models this version cannot run. */
export function resolveTemplates(input: TemplateInput): ResolvedTemplates {
  const { configuration } = input;
  const choice = chooseModels(configuration, input.models, input.providers);
  const warnings: string[] = [];
  const own = Object.entries(configuration.templates);
  const standing = Object.entries(shipped).filter(([id]) => !(id in configuration.templates));
  const problems: string[] = [];
  const localChoice = chooseModels(
    configuration,
    input.models.filter(({ local }) => local),
    input.providers,
  );
  const resolved: Template[] = [];
  for (const [id, settings] of [...own, ...standing]) {
    const isShipped = !(id in configuration.templates);
    if (settings.strategy === 'waves' && !configuration.waves.enabled) {
      if (!isShipped) warnings.push(`Template ${id} is not offered: waves.enabled is false.`);
      continue;
    }
    const template = resolveOne(id, settings, isShipped, input, settings.local_only ? localChoice : choice, warnings);
    if (template) resolved.push(template);
    else if (settings.local_only && localChoice.models.length === 0)
      problems.push(`templates.${id} is \`local_only\`, and no model of this machine or its network was found.`);
  }
  const templates = resolved.filter((template) => {
    const leaks = template.local_only
      ? leaksOf(template, resolved, { configuration, providers: input.providers, leadsTo: leadsTo(input) })
      : [];
    if (leaks.length > 0) problems.push(`templates.${template.id} is \`local_only\`, but ${leaks.join(', and ')}.`);
    return leaks.length === 0;
  });
  warnings.push(...problems);
  if (choice.because === 'paid') warnings.push(paidSentence(choice.models[0]!));
  warnings.push(...withheldTools(input.offers.tools, templates));
  const offered = withChildren(templates, input, warnings);
  return { templates: offered, warnings: [...new Set(warnings)], problems, choice };
}

const leadsTo =
  ({ strategies }: TemplateInput) =>
  ({ strategy, options = {}, split }: Template): readonly string[] => [
    ...(strategies.find((one) => one.id === strategy)?.startsRuns?.(options) ?? []),
    ...(split ? [split.template] : []),
  ];

/**
 * The templates without those that start runs of a template that is not offered, with a warning for each. Throws Failure
 * CONFIGURATION_INVALID for a name that no template has.
 */
function withChildren(
  templates: readonly Template[],
  { strategies, configuration }: TemplateInput,
  warnings: string[],
): readonly Template[] {
  const names = [...Object.keys(shipped), ...Object.keys(configuration.templates)];
  const missing = ({ id, strategy, options = {} }: Template): string | undefined =>
    (strategies.find((one) => one.id === strategy)?.startsRuns?.(options) ?? []).find((child) => {
      if (!names.includes(child)) throw new Failure('CONFIGURATION_INVALID', `templates.${id}.options: there is no template ${child}.`);
      return !templates.some((other) => other.id === child);
    });
  const gone = templates.find((template) => missing(template) !== undefined);
  if (!gone) return templates;
  warnings.push(`Template ${gone.id} is not offered: it starts runs of ${missing(gone)}, which is not offered.`);
  return withChildren(
    templates.filter((template) => template !== gone),
    { strategies, configuration } as TemplateInput,
    warnings,
  );
}

function resolveOne(
  id: string,
  ofFile: TemplateSettings,
  isShipped: boolean,
  input: TemplateInput,
  choice: ChosenModels,
  warnings: string[],
): Template | null {
  const { configuration, expertPrompts, canSearch, offers } = input;
  const changed = offers.options?.[id]?.strategy === ofFile.strategy ? offers.options[id]?.settings : undefined;
  const { settings, experts: tunedExperts, gone } = tuned(ofFile, changed, input.providers);
  if (gone.length > 0)
    warnings.push(`Template ${id} was changed to models that it cannot use any more: ${gone.join(', ')}. They are left out.`);
  const chosen = choice.models.map(({ ref }) => ref);
  const role = ({ model, models }: { model?: string | undefined; models?: readonly string[] | undefined }): string[] => [
    ...(model ? [model] : (models ?? chosen)),
  ];
  const roles = isShipped ? (choice.roles ?? null) : null;
  const foundFor = (category: string): readonly string[] =>
    roles === null ? chosen : category === visionCategory ? roles.vision : codeCategories.has(category) ? roles.code : roles.experts;
  const secondFor = (first: readonly string[]): readonly string[] => (roles?.secondTier ?? []).filter((ref) => !first.includes(ref));
  const categories =
    Object.keys(settings.experts).length > 0 ? [...new Set(['general', ...Object.keys(settings.experts)])] : Object.keys(expertPrompts);
  const experts = Object.fromEntries(
    categories.map((category): [string, ExpertProfile] => {
      const expert = { ...settings.experts[category], ...tunedExperts[category] };
      const general = tunedExperts['general']?.t1 ?? settings.experts.general?.t1;
      return [
        category,
        {
          t1: [...(expert.t1 ?? general ?? foundFor(category))],
          t2: [...(expert.t2 ?? secondFor(foundFor(category)))],
          always: [...(expert.always ?? [])],
          prompt: expert.prompt ?? expertPrompts[category] ?? '',
        },
      ];
    }),
  );
  // A process may know fewer strategies than the product ships.
  if (isShipped && !input.strategies.some((one) => one.id === settings.strategy)) return null;
  const options = optionsOf(id, settings, input);
  const means = input.strategies.find((one) => one.id === settings.strategy)?.means?.(options) ?? {};
  if (means.offered === false) {
    if (!isShipped) warnings.push(`Template ${id} is not offered: its option \`enabled\` is false.`);
    return null;
  }
  // A model that an operator names for one role takes precedence; an option of the strategy overrides the file.
  const modelsOf = (which: 'planner' | 'judge'): string[] =>
    settings[which] === ofFile[which] ? [...(means.models ?? role(settings[which]))] : role(settings[which]);
  const [planner, judge] = [modelsOf('planner'), modelsOf('judge')];
  const used = [
    ...new Set([...planner, ...judge, ...Object.values(experts).flatMap(({ t1, t2 = [], always = [] }) => [...t1, ...t2, ...always])]),
  ];
  if (used.length === 0 || planner.length === 0 || judge.length === 0 || Object.values(experts).some(({ t1 }) => t1.length === 0)) {
    if (!isShipped) warnings.push(`Template ${id} is not offered: it does not name a model for every role, and no model was found.`);
    return null;
  }
  const isDemo = used.every((ref) => input.models.find((model) => model.ref === ref)?.demo);
  const asked = settings.capabilities;
  checkCapabilities(id, asked, input);
  const callsTools = asked.includes('mcp') || input.strategies.find((one) => one.id === settings.strategy)?.callsTools === true;
  const tools = offeredTools(id, settings, configuration, callsTools ? offers.tools : [], means.tools);
  const possible: Readonly<Record<string, boolean>> = {
    research: canSearch,
    math: true,
    mcp: tools.length > 0,
    graph: input.canRecall,
    collections: offers.collections.length > 0 || offers.tenantCollections === true,
  };
  if (isShipped && wants[id] && (isDemo || !wants[id].some((name) => possible[name]))) return null;
  if (!canSearch && !isShipped && asked.includes('research')) {
    warnings.push(`Template ${id} asks for research, but nothing to search is configured: set search.searxng or search.corpus.`);
  }
  const policies = { ...means.policies, ...settings.policies };
  const content = {
    id,
    description: settings.description,
    strategy: settings.strategy,
    options,
    ...(settings.split ? { split: settings.split } : {}),
    ...(settings.local_only ? { local_only: true } : {}),
    max_agentic_rounds: settings.strategy === 'single-pass' ? 0 : settings.max_agentic_rounds,
    gap_check: settings.gap_check,
    planner: { models: planner, prompt: settings.planner.prompt ?? null },
    judge: { models: judge },
    experts,
    capabilities: asked.filter((name) => possible[name] ?? true),
    tools: [...tools],
    collections: asked.includes('collections') ? [...offers.collections] : [],
    ...(settings.client_tools === 'ignore' ? {} : { client_tools: settings.client_tools, tool_model: settings.tool_model ?? judge[0]! }),
    ...(Object.keys(policies).length > 0 ? { policies } : {}),
    // The demo model has no knowledge and cannot advise: every question is answered from the documents, and no expert is asked again.
    complexity: isDemo && settings.complexity === 'auto' ? 'moderate' : settings.complexity,
    thinking: settings.thinking,
    refine_rounds: isDemo ? 0 : settings.refine_rounds,
    critic: { categories: settings.critic },
    caches: settings.caches,
    learn: settings.learn,
    prompts: { ...offers.prompts, ...means.prompts },
    classes: classesOf(input),
    limits: limitsOf(settings, isShipped, used, means, input),
    task_timeout_s: settings.task_timeout_s,
    start_timeout_s: settings.start_timeout_s,
    planning_timeout_s: settings.planning_timeout_s,
    pause_timeout_s: settings.pause_timeout_s,
    answer_timeout_s: settings.answer_timeout_s,
    progress: settings.progress,
    prices: pick(used, (ref) => configuration.models[ref]?.price ?? input.models.find((model) => model.ref === ref)?.price ?? undefined),
    contexts: pick(
      used,
      (ref) => configuration.models[ref]?.context ?? input.models.find((model) => model.ref === ref)?.context ?? undefined,
    ),
  };
  // An extension's earlier answers may differ from those of its changed module.
  const modules = [
    input.strategies.find((one) => one.id === settings.strategy),
    ...input.capabilities.filter(({ name }) => asked.includes(name)),
  ];
  const versions = modules.flatMap((one) => one?.version ?? []);
  const hashed = canonical(versions.length > 0 ? { ...content, versions } : content);
  return Template.parse({ ...content, version: createHash('sha256').update(hashed).digest('hex').slice(0, 16) });
}

/** Options with the strategy's defaults. Throws Failure CONFIGURATION_INVALID for an unknown strategy or option. */
function optionsOf(
  id: string,
  { strategy, options }: TemplateSettings,
  { strategies, configuration, offers }: TemplateInput,
): Record<string, unknown> {
  const found = strategies.find((one) => one.id === strategy);
  if (!found)
    throw new Failure(
      'CONFIGURATION_INVALID',
      `templates.${id}.strategy: there is no strategy ${strategy}. Use one of: ${strategies.map((one) => one.id).join(', ')}.`,
    );
  const ofStrategy = strategy === 'reasoning' ? configuration.reasoning : {};
  const changed = offers.options?.[id];
  const read = found.options.safeParse({ ...ofStrategy, ...options, ...(changed?.strategy === strategy ? changed.options : {}) });
  if (read.success) return read.data;
  const [fault] = read.error.issues;
  const at = ['templates', id, 'options', ...(fault?.path ?? [])].join('.');
  throw new Failure('CONFIGURATION_INVALID', `${at}: ${fault?.message ?? 'it is not valid'}.`);
}

/** Throws Failure CONFIGURATION_INVALID for an unknown capability. */
function checkCapabilities(id: string, asked: readonly string[], { capabilities }: TemplateInput): void {
  const names = capabilities.map(({ name }) => name);
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Failure(
      'CONFIGURATION_INVALID',
      `templates.${id}.capabilities: there is no capability ${unknown}. Use some of: ${names.join(', ')}.`,
    );
}

/** Class of each capability, or of its first word: the operator's, else the default class. */
const classesOf = ({ configuration: { task_classes: classes }, capabilities }: TemplateInput): Record<string, string> => ({
  expert: 'expert',
  judge: 'judge',
  ...Object.fromEntries(capabilities.map(({ name, taskClass }) => [name, taskClass])),
  ...Object.fromEntries(
    Object.entries(classes).flatMap(([name, { capabilities }]) => capabilities.map((capability) => [capability, name])),
  ),
});

function limitsOf(
  settings: TemplateSettings,
  isShipped: boolean,
  used: readonly string[],
  means: TemplateMeaning,
  { configuration, models, providers }: TemplateInput,
): RunLimits {
  const given = Object.fromEntries(Object.entries(settings.limits).filter(([, value]) => value !== undefined));
  const paid = new Set(providers.filter((provider) => provider.paid).map(({ name }) => name));
  const price = (ref: string) => configuration.models[ref]?.price ?? models.find((model) => model.ref === ref)?.price;
  const costs = used.some((ref) => paid.has(providerNameOf(ref)) && price(ref));
  return { ...defaultLimits, ...means.limits, ...(isShipped && costs ? { cost: paidCostCap } : {}), ...given };
}

function paidSentence(model: ModelInfo): string {
  const cap = model.price
    ? `a run may cost at most ${paidCostCap} (limits.cost)`
    : `its price is unknown, so its cost cannot be capped: add it under \`models\` in conclave.yaml (until then the limit is ${defaultLimits.tokens} tokens a run)`;
  return `The shipped templates use the paid model ${model.ref}; ${cap}.`;
}

function pick<T>(refs: readonly string[], of: (ref: string) => T | undefined): Record<string, T> {
  return Object.fromEntries(
    refs.flatMap((ref) => {
      const value = of(ref);
      return value === undefined ? [] : [[ref, value]];
    }),
  );
}

/** JSON with sorted keys, so that equal content has the same hash in every process. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}
