import { noUsage } from '@conclave/contracts';
import type { Models } from '@conclave/ports';
import { replyTo } from './replies.js';

export const instantModel = 'instant@bench';
/** The model of the second tier: equally fast, with higher confidence. */
export const secondModel = 'second@bench';

/** In-process models that answer at once and count their calls. */
export interface InstantModels extends Models {
  readonly calls: () => number;
}

/** A quarter of the characters, as with most tokenizers for English. */
const tokens = (text: string): number => Math.ceil(text.length / 4);

export function instantModels(): InstantModels {
  let calls = 0;
  return {
    calls: () => calls,
    list: async () => [
      { ref: instantModel, model: 'instant', provider: 'bench', context: null, price: null, local: true, demo: false, kind: 'chat' },
    ],
    // Never reached: slots are taken and released as in production, but no call waits for one.
    providers: async () => [{ name: 'bench', reachable: true, local: true, paid: false, note: '', maxConcurrency: 1_000 }],
    call: async ({ model, messages }, { onDelta }) => {
      calls += 1;
      const content = replyTo(messages, model === secondModel);
      onDelta?.({ content });
      const prompt = messages.reduce((sum, message) => sum + tokens(message.content), 0);
      return {
        content,
        reasoning: '',
        finishReason: 'stop',
        usage: { ...noUsage, calls: 1, prompt, completion: tokens(content) },
        reportedModel: null,
        firstTokenMs: 0,
        durationMs: 0,
      };
    },
    pass: () => Promise.reject(new Error('No client asks a model directly here.')),
    close: async () => undefined,
  };
}
