/** One side of a comparison. */
export interface Subject<T> {
  readonly name: string;
  /** Measures one round of work. Round 0 warms up and is discarded. */
  measure(round: number): Promise<T>;
}

/**
 * Measures every subject once per round, so that a noisy minute affects all of them: A B C, then C B A, and so on. Returns the
 * measurements by subject, in the order of the rounds, without the warm-up round.
 */
export async function interleave<T>(
  subjects: readonly Subject<T>[],
  rounds: number,
  progress: (text: string) => void = () => undefined,
): Promise<ReadonlyMap<string, readonly T[]>> {
  const measured = new Map<string, T[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const order = round % 2 === 0 ? subjects : [...subjects].reverse();
    for (const subject of order) {
      progress(`${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}: ${subject.name}`);
      const result = await subject.measure(round);
      if (round > 0) measured.get(subject.name)!.push(result);
    }
  }
  return measured;
}
