import { toUnitLength, type Embedder } from '@conclave/ports';
import { hashText } from '../faults/random.js';
import { portView } from './port-view.js';
import type { LivingProcess } from './surroundings.js';

const dimension = 16;

function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(dimension);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) vector[hashText(word) % dimension]! += 1;
  if (!toUnitLength(vector)) vector[0] = 1;
  return vector;
}

/** Embeds words by their spelling alone, which is enough for equal texts to be near each other and other texts to be far apart. */
export const simulatedEmbedder = (process: LivingProcess): Embedder => ({
  id: 'simulated',
  reads: 'words',
  dimension,
  ...pick(portView(process, 'embedder', { embed: async (texts: readonly string[]) => texts.map(vectorOf) }, 'embedder')),
  health: async () => null,
  close: async () => undefined,
});

const pick = ({ embed }: { readonly embed: (texts: readonly string[]) => Promise<Float32Array[]> }): Pick<Embedder, 'embed'> => ({
  embed: (texts) => embed(texts),
});
