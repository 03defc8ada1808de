import { documentsCollection, type Embedder, type Vectors } from '@conclave/ports';
import { chunksOf, textWithHeadings } from '@conclave/service-graph-ingest';
import type { Paragraph } from './two-hop-corpus.js';

export const tenant = 'measured';
export const collection = 'paragraphs';

/** The paragraph as a Markdown file of a folder. */
export const asMarkdown = ({ title, text }: Paragraph): string => `# ${title}\n\n${text}\n`;

/** Writes the paragraphs as graph-ingest writes uploaded documents. */
export async function fillCollection(
  vectors: Vectors,
  embedder: Embedder,
  paragraphs: readonly Paragraph[],
  signal: AbortSignal,
): Promise<void> {
  const scope = { tenant, collection: documentsCollection(collection, embedder) };
  const records = paragraphs.flatMap((paragraph, n) =>
    chunksOf(`doc${n}`, asMarkdown(paragraph)).map((chunk) => ({
      id: chunk.id,
      text: textWithHeadings(chunk),
      metadata: { document: `doc${n}`, title: paragraph.title, heading: chunk.headings.join(' / ') },
    })),
  );
  const found = await embedder.embed(
    records.map(({ text }) => text),
    { signal },
  );
  await vectors.create(scope, found[0]!.length);
  await vectors.upsert(
    scope,
    records.map((record, at) => ({ ...record, vector: found[at]! })),
  );
}
