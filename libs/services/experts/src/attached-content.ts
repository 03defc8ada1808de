import { type AttachedReference, Failure } from '@conclave/contracts';
import { type Blobs, type CallContentPart, getLocked } from '@conclave/ports';
import type { FillIn } from '@conclave/calls';
import { quotedFile, sections } from '@conclave/strategies';

/**
 * Adds images and files to messages: images as content parts after the text, files as quoted text. Throws ATTACHMENT_MISSING;
 * outages of the blob store pass through.
 */
export const contentFrom =
  (blobs: Pick<Blobs, 'get'>): FillIn =>
  (messages) =>
    Promise.all(
      messages.map(async ({ attached, ...message }) => {
        if (!attached || attached.length === 0) return message;
        const files: string[] = [];
        const images: CallContentPart[] = [];
        for (const one of attached) {
          if (one.kind === 'file') files.push(quotedFile(one, (await bodyOf(blobs, one.blob, one)).toString('utf8')));
          else images.push({ type: 'image_url', image_url: { url: await addressOf(blobs, one) } });
        }
        const content = sections(message.content, ...files);
        return images.length === 0 ? { ...message, content } : { ...message, content, parts: [{ type: 'text', text: content }, ...images] };
      }),
    );

async function addressOf(
  blobs: Pick<Blobs, 'get'>,
  { mime, blob, bytes, key, url }: Extract<AttachedReference, { kind: 'image' }>,
): Promise<string> {
  if (blob === null) {
    if (url === null) throw new Failure('ATTACHMENT_MISSING');
    return url;
  }
  return `data:${mime};base64,${(await bodyOf(blobs, blob, { bytes, ...(key === undefined ? {} : { key }) })).toString('base64')}`;
}

/** A missing body ends the task: the store is up, so waiting would not help. */
async function bodyOf(
  blobs: Pick<Blobs, 'get'>,
  sha256: string,
  { bytes, key }: Pick<AttachedReference, 'bytes' | 'key'>,
): Promise<Buffer> {
  try {
    return await (key === undefined ? blobs.get({ sha256, bytes }) : getLocked(blobs, { sha256, bytes, key }));
  } catch (cause) {
    if (cause instanceof Failure && (cause.code === 'BLOB_MISSING' || cause.code === 'BLOB_CORRUPT'))
      throw new Failure('ATTACHMENT_MISSING', undefined, { cause });
    throw cause;
  }
}
