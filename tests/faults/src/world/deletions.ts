import { command } from '@conclave/test-support/system';
import { until } from '@conclave/test-support';
import type { World } from './world.js';

/** Milliseconds between two tries: the process that answers may be dead, and a run may not have ended. */
const everyMs = 100;

/**
 * A client that deletes runs over HTTP, and repeats that until it is told that a run is gone, whatever dies in the meantime. A run that must
 * not be waited for is cancelled first, as the refusal of its deletion says.
 */
export class Deletions {
  /** Runs that were deleted, with the time at which the client was told. */
  readonly done = new Map<string, number>();

  constructor(private readonly world: World) {}

  /** `open`: cancels a run that has not ended. Throws when the run is not gone in time, with the last reply. */
  async delete(runId: string, { open, timeoutMs }: { readonly open: boolean; readonly timeoutMs: number }): Promise<void> {
    let last = 'nothing';
    try {
      await until(
        `the deletion of ${runId}`,
        async () => {
          last = await this.tryOnce(runId, open).catch(String);
          return last === 'gone';
        },
        { timeoutMs, everyMs },
      );
    } catch (error) {
      throw new Error(`${runId} was not deleted: ${last}`, { cause: error });
    }
    this.done.set(runId, Date.now());
  }

  private async tryOnce(runId: string, open: boolean): Promise<string> {
    const { system, controlled } = this.world;
    const response = await fetch(`${system.url()}/v1/runs/${runId}`, { method: 'DELETE' });
    const text = await response.text();
    // Without its marker, nobody can complete a deletion that a death has cut off.
    if (response.status === 200 || (controlled && response.status === 404)) return 'gone';
    if (response.status === 409 && open) await cancelled(this.world, runId);
    return `${response.status} ${text}`;
  }
}

/** Asks once for the cancel of a run, and returns whether it is cancelled or has ended; an outage is left to the next try. */
export async function cancelled({ system }: World, runId: string): Promise<boolean> {
  try {
    const response = await command(system.url(), runId, { command: 'cancel' });
    await response.body?.cancel();
    return response.ok || response.status === 409;
  } catch {
    return false;
  }
}
