import { Failure } from '@conclave/contracts';

type Loose = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null;

/**
 * The vectors of a reply `{data: [{index, embedding}]}` in the order of the texts. Servers may leave out `index`, and some send base64
 * whatever was asked for. Throws Failure PROVIDER_REPLY_INVALID unless there is one vector of numbers for each text.
 */
export function vectorsOf(answer: unknown, texts: number, provider: string): readonly Float32Array[] {
  const invalid = (detail: string): Failure => new Failure('PROVIDER_REPLY_INVALID', `Provider ${provider} ${detail}`);
  const data = isObject(answer) ? answer['data'] : undefined;
  if (!Array.isArray(data) || data.length !== texts) throw invalid(`did not send one vector for each of ${texts} texts.`);
  const vectors = new Array<Float32Array | undefined>(texts).fill(undefined);
  for (const [at, entry] of (data as readonly unknown[]).entries()) {
    const { index = at, embedding } = isObject(entry) ? entry : {};
    const vector = vectorOf(embedding);
    if (!vector) throw invalid('sent something that is not a vector.');
    if (typeof index !== 'number' || !(index in vectors) || vectors[index]) throw invalid('sent vectors that belong to no text.');
    vectors[index] = vector;
  }
  return vectors as readonly Float32Array[];
}

function vectorOf(embedding: unknown): Float32Array | null {
  if (typeof embedding === 'string') {
    const bytes = Buffer.from(embedding, 'base64');
    if (bytes.length === 0 || bytes.length % 4 !== 0) return null;
    return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
  }
  if (!Array.isArray(embedding) || embedding.length === 0 || !embedding.every((value) => typeof value === 'number')) return null;
  return Float32Array.from(embedding as readonly number[]);
}
