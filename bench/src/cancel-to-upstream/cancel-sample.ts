import type { FakeModel } from '../model-server/fake-model.js';
import { monotonicMs } from '../model-server/protocol.js';
import type { ScriptedRole } from '../model-server/schedule.js';
import { streamChat } from '../model-server/streaming-client.js';

/** Where a client is cut off: while the model call of this role is under way. */
export interface CancelScenario {
  readonly name: string;
  /** Base URL with /v1, and what is asked there. */
  readonly url: string;
  readonly model: string;
  readonly during: ScriptedRole;
}

let questions = 0;

/**
 * Milliseconds from the client's disconnect to the moment the model server saw its connection closed. The call hangs after
 * its first token, so nothing but the cancel can end it.
 */
export async function cancelSample(fake: FakeModel, { url, model, during }: CancelScenario): Promise<number> {
  const mark = `mark-${(questions += 1)}-x`;
  fake.forget();
  const leave = new AbortController();
  let onContent: () => void = () => undefined;
  const shown = new Promise<void>((resolve) => (onContent = resolve));
  const streaming = streamChat({ url, model, prompt: `Answer ${mark} please.`, signal: leave.signal, onContent });
  const broken = streaming.then(
    () => {
      throw new Error('The answer ended although its model hangs.');
    },
    (error: unknown) => {
      if (!leave.signal.aborted) throw error;
    },
  );
  // What streams to the client is cut off when its first text is there; an expert's text never is, so its call must have begun.
  const underWay = during === 'expert' ? fake.note('begun', during, mark) : shown;
  await Promise.race([underWay, broken]);
  const left = monotonicMs();
  leave.abort();
  await broken;
  return (await fake.note('closed', during, mark)).at - left;
}
