/** Observes the work of the store, to measure what a run costs. Not used in production. */
export interface StoreCounter {
  /** A statement is about to run, including those that begin and end transactions. */
  statement(source: string): void;
  /** A transaction was committed; `awaited` when a caller waits for it. */
  committed(awaited: boolean): void;
  /** The state of a run was serialized to be stored. */
  stateStored(): void;
}
