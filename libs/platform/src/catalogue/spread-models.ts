import type { ModelInfo } from '@conclave/ports';

/** Roles of models in the shipped templates; every list is a `t1` or `t2` of a template, tried in order. */
export interface ModelRoles {
  /** It also plans: an unreadable plan costs more than a slow one. */
  readonly judge: string;
  readonly experts: readonly string[];
  readonly secondTier: readonly string[];
  /** Experts for code and for images; the same as `experts` if no model is specialised. */
  readonly code: readonly string[];
  readonly vision: readonly string[];
}

/** Categories of the shipped templates whose experts are code models. */
export const codeCategories: ReadonlySet<string> = new Set(['code_reviewer', 'agentic_coder']);
export const visionCategory = 'vision';

const madeForCode =
  /(?:^|[^a-z])(?:code|coder|coding|codellama|codegemma|codestral|devstral|starcoder\d*|granite-code)(?:[^a-z]|$)|coder|code/;
const madeForVision =
  /(?:^|[^a-z])(?:vl|vlm|vision|llava|bakllava|moondream\d*|minicpm-v|pixtral|paligemma\d*|smolvlm\d*|internvl\d*)(?:[^a-z]|$)|\d-?vl|llava|vision/;

/**
 * Parameters of a model in billions from its name, such as 8 for `qwen3:8b`, 0.135 for `SmolLM2-135M`, 56 for `mixtral:8x7b` and 4 for
 * `gemma3n:e4b`; null if the name does not say.
 */
export function sizeByName(model: string): number | null {
  const found = [...model.toLowerCase().matchAll(/(?<![a-z0-9.])(?:e|(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])/g)].map(
    ([, times, number, unit]) => Number(times ?? 1) * Number(number) * (unit === 'm' ? 0.001 : 1),
  );
  // `30b-a3b` has 30 billion, of which 3 are active; the active count begins with an `a`.
  return found.length === 0 ? null : Math.max(...found);
}

/** Billions of parameters: the server's figure, else a guess from the name. */
export const sizeOf = ({ model, parameters }: Pick<ModelInfo, 'model' | 'parameters'>): number | null => parameters ?? sizeByName(model);
const seesImages = ({ model, sees }: ModelInfo): boolean => sees ?? madeForVision.test(model.toLowerCase());
const writesCode = ({ model }: ModelInfo): boolean => madeForCode.test(model.toLowerCase());

/**
 * Spreads several models on one machine over the roles: the largest judges, plans and is the second tier; code and vision models are
 * experts of their categories; the smallest is reserved for utility prompts if others remain; the rest are experts. Equal sizes and unknown
 * sizes keep the order of the list; the same models return the same roles. Null for fewer than two.
 */
export function spreadModels(models: readonly ModelInfo[]): ModelRoles | null {
  if (models.length < 2) return null;
  const refs = (some: readonly ModelInfo[]): readonly string[] => some.map(({ ref }) => ref);
  const bySize = models
    .map((model, at) => ({ model, at, size: sizeOf(model) ?? 0 }))
    .sort((a, b) => b.size - a.size || a.at - b.at)
    .map(({ model }) => model);
  const code = bySize.filter(writesCode);
  // A model that can also see remains an expert; one named after vision is specialised.
  const vision = bySize.filter(seesImages);
  const onlyVision = bySize.filter((model) => madeForVision.test(model.model.toLowerCase()));
  const special = new Set([...code, ...onlyVision]);
  const general = bySize.filter((model) => !special.has(model));
  const pool = general.length > 0 ? general : bySize;
  const largest = pool[0]!;
  const others = pool.slice(1);
  const experts = others.length > 1 && sizeOf(others.at(-1)!) !== null ? others.slice(0, -1) : others;
  const first = experts.length > 0 ? refs(experts) : [largest.ref];
  return {
    judge: largest.ref,
    experts: first,
    secondTier: first.includes(largest.ref) ? [] : [largest.ref],
    code: code.length > 0 ? refs(code) : first,
    vision: vision.length > 0 ? refs(vision) : first,
  };
}
