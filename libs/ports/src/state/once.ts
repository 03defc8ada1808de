export interface OnceClaim {
  readonly tenant: string;
  /** What can be claimed once. */
  readonly name: string;
  /** The claimant; repeating its claim returns the same answer. */
  readonly holder: string;
  /** How long the claim is remembered, from the first one on, in milliseconds; null: forever. */
  readonly ttlMs: number | null;
}

/** One-time claims: the first claimant of a name gets it. Any string is a valid tenant, name or holder. */
export interface Once {
  /** `holder` owns the name after the call; `mine` says whether that is the caller. */
  claim(claim: OnceClaim): Promise<{ readonly mine: boolean; readonly holder: string }>;
}
