import type { ModelInfo } from '@conclave/ports';

/** Which models play which part in the shipped templates; every list is a `t1` or `t2` of a template, its first model asked first. */
export interface ModelRoles {
  /** Also plans: a plan that cannot be read costs more than a slow one. */
  readonly judge: string;
  readonly experts: readonly string[];
  readonly secondTier: readonly string[];
  /** Experts of code, of images; the experts above where no model is made for it. */
  readonly code: readonly string[];
  readonly vision: readonly string[];
}

/** Categories of the shipped templates whose experts are the models made for code. */
export const codeCategories: ReadonlySet<string> = new Set(['code_reviewer', 'agentic_coder']);
export const visionCategory = 'vision';

const madeForCode =
  /(?:^|[^a-z])(?:code|coder|coding|codellama|codegemma|codestral|devstral|starcoder\d*|granite-code)(?:[^a-z]|$)|coder|code/;
const madeForVision =
  /(?:^|[^a-z])(?:vl|vlm|vision|llava|bakllava|moondream\d*|minicpm-v|pixtral|paligemma\d*|smolvlm\d*|internvl\d*)(?:[^a-z]|$)|\d-?vl|llava|vision/;

/**
 * Parameters of a model in billions by its name, such as 8 for `qwen3:8b`, 0.135 for `SmolLM2-135M`, 56 for `mixtral:8x7b` and 4 for
 * `gemma3n:e4b`; null where the name says nothing.
 */
export function sizeByName(model: string): number | null {
  const found = [...model.toLowerCase().matchAll(/(?<![a-z0-9.])(?:e|(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])/g)].map(
    ([, times, number, unit]) => Number(times ?? 1) * Number(number) * (unit === 'm' ? 0.001 : 1),
  );
  // `30b-a3b` has 30 billion, of which 3 are active; the number of active ones is written with an `a`.
  return found.length === 0 ? null : Math.max(...found);
}

/** Billions of parameters. What the server says is true; a name is a guess. */
export const sizeOf = ({ model, parameters }: Pick<ModelInfo, 'model' | 'parameters'>): number | null => parameters ?? sizeByName(model);
const seesImages = ({ model, sees }: ModelInfo): boolean => sees ?? madeForVision.test(model.toLowerCase());
const writesCode = ({ model }: ModelInfo): boolean => madeForCode.test(model.toLowerCase());

/**
 * Parts for several models on one machine: the largest judges, plans and is the second tier; code and vision models are experts of their
 * categories; the smallest is left to utility prompts where others remain; the rest are experts. Equal sizes, and models whose size is not
 * known, keep the order of the list; the same models give the same parts. Null for fewer than two.
 */
export function spreadModels(models: readonly ModelInfo[]): ModelRoles | null {
  if (models.length < 2) return null;
  const refs = (some: readonly ModelInfo[]): readonly string[] => some.map(({ ref }) => ref);
  const bySize = models
    .map((model, at) => ({ model, at, size: sizeOf(model) ?? 0 }))
    .sort((a, b) => b.size - a.size || a.at - b.at)
    .map(({ model }) => model);
  const code = bySize.filter(writesCode);
  // A model that also sees is no less an expert; one that is called after it is made for it.
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
