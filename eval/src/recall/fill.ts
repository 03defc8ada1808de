import { documentsCollection, type Embedder, type Vectors } from '@conclave/ports';
import { chunksOf, embeddedText, storedText } from '@conclave/service-graph-ingest';
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
  const chunks = (
    await Promise.all(
      paragraphs.map(async (paragraph, n) =>
        (await chunksOf(`doc${n}`, asMarkdown(paragraph))).map((chunk) => ({ chunk, document: `doc${n}`, title: paragraph.title })),
      ),
    )
  ).flat();
  const found = await embedder.embed(
    chunks.map(({ chunk }) => embeddedText(chunk)),
    { signal },
  );
  await vectors.create(scope, found[0]!.length);
  await vectors.upsert(
    scope,
    chunks.map(({ chunk, document, title }, at) => ({
      id: chunk.id,
      vector: found[at]!,
      text: storedText(chunk),
      metadata: { document, title, heading: chunk.headings.join(' / ') },
    })),
  );
}
