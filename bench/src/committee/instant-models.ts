import { noUsage } from '@conclave/contracts';
import type { Models } from '@conclave/ports';
import { replyTo } from './replies.js';

export const instantModel = 'instant@bench';
/** Answers as at once, and is surer. */
export const secondModel = 'second@bench';

/** Models that answer at once, in this process. Counts its calls. */
export interface InstantModels extends Models {
  readonly calls: () => number;
}

/** A quarter of the characters, as most tokenizers come out for English. */
const tokens = (text: string): number => Math.ceil(text.length / 4);

export function instantModels(): InstantModels {
  let calls = 0;
  return {
    calls: () => calls,
    list: async () => [
      { ref: instantModel, model: 'instant', provider: 'bench', context: null, price: null, local: true, demo: false, kind: 'chat' },
    ],
    // A limit that is never reached: slots are taken and given back as in production, but nobody waits for one.
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
