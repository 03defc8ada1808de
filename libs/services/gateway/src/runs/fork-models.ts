import { createHash } from 'node:crypto';
import type { ExpertProfile, RequestedTask, Template } from '@conclave/contracts';
import { canonicalJson } from '@conclave/loop';
import type { Resolved } from '../options.js';

/** The models of a fork: one model or several, of which the first that answers is used; or the models of a template, each in its role. */
export type TodaysModels = Resolved;

/** A recorded template unchanged, except for other models and their current metadata. */
export function withModels(recorded: Template, today: TodaysModels, known: Pick<Template, 'prices' | 'contexts'>): Template {
  const source = today.kind === 'template' ? today.template : allBy(today.kind === 'model' ? [today.ref] : today.models);
  const { planner, judge, experts } = source;
  const profileOf = (category: string): Omit<ExpertProfile, 'prompt'> => experts[category] ?? experts['general'] ?? { t1: judge.models };
  const content = {
    ...recorded,
    planner: { ...recorded.planner, models: planner.models },
    judge: { models: judge.models },
    experts: Object.fromEntries(Object.entries(recorded.experts).map(([name, { prompt }]) => [name, { ...profileOf(name), prompt }])),
    prices: { ...recorded.prices, ...known.prices },
    contexts: { ...recorded.contexts, ...known.contexts },
  };
  return { ...content, version: createHash('sha256').update(canonicalJson(content)).digest('hex').slice(0, 16) };
}

const allBy = (models: string[]): Pick<Template, 'planner' | 'judge' | 'experts'> => ({
  planner: { models, prompt: null },
  judge: { models },
  experts: {},
});

/** Models that a task of a recorded run calls under this template. */
export function modelsOfTask({ spec: { capability }, tier }: RequestedTask, { experts, judge }: Template): readonly string[] {
  if (!capability.startsWith('expert.')) return judge.models;
  const profile = experts[capability.slice('expert.'.length)] ?? experts['general'];
  return (tier === 't2' ? profile?.t2 : undefined) ?? profile?.t1 ?? judge.models;
}
