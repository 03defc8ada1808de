/** A model's record in a category: the summed weights of its good and bad outcomes, without any prior. */
export interface Score {
  readonly model: string;
  readonly positive: number;
  readonly negative: number;
}

export interface CategoryScore extends Score {
  readonly category: string;
}

export interface ScoreChange {
  /** The event the scores come from; it counts once per tenant. */
  readonly eventId: string;
  readonly tenant: string;
  /** Weights to add, each from 0 to `largestWeight`. A model and category may occur several times. */
  readonly updates: readonly CategoryScore[];
}

/**
 * Counts behind the Beta posteriors of models, per tenant and category. They do not expire. Any string is a valid tenant, category,
 * model or event id.
 */
export interface Scores {
  /**
   * Adds all updates at once; returns false and adds nothing if the event was applied before. Its id is kept for `StoreTtl.retentionMs`
   * from its last use.
   */
  add(change: ScoreChange): Promise<boolean>;
  /** One score for each model, in their order; zeros for an unknown one. */
  read(query: { readonly tenant: string; readonly category: string; readonly models: readonly string[] }): Promise<readonly Score[]>;
  /** All scores of the tenant, ordered by category and then by model. */
  all(tenant: string): Promise<readonly CategoryScore[]>;
}

/** Sums of weights up to this one stay finite and exact to a millionth in every store. */
export const largestWeight = 1_000;

/** The updates of a change, summed per category and model. Throws RangeError for an invalid weight. */
export function summedUpdates(updates: readonly CategoryScore[]): readonly CategoryScore[] {
  const sums = new Map<string, CategoryScore>();
  for (const { category, model, positive, negative } of updates) {
    for (const weight of [positive, negative])
      if (!(weight >= 0 && weight <= largestWeight)) throw new RangeError(`${weight} is not a weight from 0 to ${largestWeight}.`);
    const name = JSON.stringify([category, model]);
    const before = sums.get(name);
    sums.set(name, { category, model, positive: (before?.positive ?? 0) + positive, negative: (before?.negative ?? 0) + negative });
  }
  return [...sums.values()];
}

/** The order of `Scores.all`. */
export const byCategoryAndModel = (a: CategoryScore, b: CategoryScore): number =>
  inOrder(a.category, b.category) || inOrder(a.model, b.model);

const inOrder = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
