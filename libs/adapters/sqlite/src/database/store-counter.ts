/** Is told what the store does, by whoever counts what a run costs. Nobody listens in production. */
export interface StoreCounter {
  /** A statement is about to run, those that begin and end transactions among them. */
  statement(source: string): void;
  /** A transaction was committed; `awaited` when somebody goes on only after it. */
  committed(awaited: boolean): void;
  /** The state of a run was made into JSON to be stored. */
  stateStored(): void;
}
