export interface OnceClaim {
  readonly tenant: string;
  /** What may happen once. */
  readonly name: string;
  /** Who wants to be the one; a repeated claim of the same holder gets the same answer again. */
  readonly holder: string;
  /** How long it is remembered from the first claim on, in milliseconds; null: for good. */
  readonly ttlMs: number | null;
}

/** Things that happen once: the first who claims a name has it. Any string is a valid tenant, name or holder. */
export interface Once {
  /** `holder` is who has the name after the call; `mine` says that it is the caller. */
  claim(claim: OnceClaim): Promise<{ readonly mine: boolean; readonly holder: string }>;
}
