import { Inject, Injectable } from '@nestjs/common';
import { type ContentPart, Failure } from '@conclave/contracts';
import { isJsonObject, type JsonObject } from '@conclave/ports';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { type DecodedPart, imageIn, readGiven } from './given-content.js';

type Image = Extract<DecodedPart, { kind: 'image' }>;

/**
 * Fetches images by address, with checks, and passes on their bytes: a model server would fetch from inside the network what the client cannot
 * reach itself.
 */
@Injectable()
export class RemoteImages {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
  ) {}

  /** Fetches an image; `param` is the path of its address in the request. Throws ATTACHMENT_INVALID. */
  async fetch(url: string, param: string, signal: AbortSignal): Promise<Image> {
    const { remoteFiles } = this.options;
    if (!remoteFiles) throw invalid('This installation does not fetch images. Send the image itself as a data URL.', param);
    try {
      const bytes = await remoteFiles.read({ url, maxBytes: this.limits.maxAttachmentBytes, signal });
      return imageIn(Buffer.from(bytes), param);
    } catch (cause) {
      if (!(cause instanceof Failure) || !cause.code.startsWith('PAGE_')) throw cause;
      throw invalid(
        `It cannot be fetched: ${cause.detail ?? 'its server does not answer.'} Send the image itself, as a data URL.`,
        param,
        cause,
      );
    }
  }

  /**
   * Returns the body of a direct call with the address of each image replaced by its bytes. Refuses other addresses in message parts.
   * Throws ATTACHMENT_INVALID, ATTACHMENTS_TOO_LARGE.
   */
  async inlined(body: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { messages, tools } = body;
    if (!Array.isArray(messages)) return body;
    for (const [index, tool] of (Array.isArray(tools) ? (tools as unknown[]) : []).entries())
      if (isJsonObject(tool) && tool['type'] !== 'function') refuseAddresses(tool, `tools[${index}]`);
    const found = new Map<string, Promise<Image>>();
    const fetchOnce = (url: string, param: string): Promise<Image> => {
      const known = found.get(url);
      if (known) return known;
      if (found.size >= this.limits.maxAttachments)
        throw new Failure('ATTACHMENTS_TOO_LARGE', `At most ${this.limits.maxAttachments} images of a request are fetched.`, {
          param: 'messages',
        });
      const image = this.fetch(url, param, signal);
      found.set(url, image);
      return image;
    };
    const inPart = async (part: unknown, param: string): Promise<unknown> => {
      if (!isJsonObject(part)) return part;
      const { image_url: image, text: _, ...others } = part;
      if (part['type'] !== 'image_url') {
        refuseAddresses({ ...others, image_url: image }, param);
        return part;
      }
      refuseAddresses(others, param);
      const url = typeof image === 'string' ? image : isJsonObject(image) ? image['url'] : undefined;
      if (typeof url === 'string' && /^data:/i.test(url)) return part;
      const given = readGiven(part as ContentPart, param);
      if (given.kind !== 'address') return part;
      const { mime, bytes } = await fetchOnce(given.url, param);
      const data = `data:${mime};base64,${bytes.toString('base64')}`;
      return { ...part, image_url: isJsonObject(image) ? { ...image, url: data } : data };
    };
    const inMessage = async (message: unknown, at: number): Promise<unknown> => {
      if (!isJsonObject(message)) return message;
      for (const name of media) if (message[name] !== undefined) refuseAddresses(message[name], `messages[${at}].${name}`);
      const { content } = message;
      if (!Array.isArray(content)) return message;
      // One at a time: one request must not open many connections at once.
      const parts: unknown[] = [];
      for (const [index, part] of (content as unknown[]).entries()) parts.push(await inPart(part, `messages[${at}].content[${index}]`));
      return { ...message, content: parts };
    };
    const kept: unknown[] = [];
    let bytes = 0;
    for (const [index, message] of (messages as unknown[]).entries()) {
      const before = found.size;
      kept.push(await inMessage(message, index));
      for (const image of [...found.values()].slice(before)) bytes += (await image).bytes.byteLength;
      if (bytes > this.limits.maxAttachmentBytes)
        throw new Failure('ATTACHMENTS_TOO_LARGE', `The images have more than ${this.limits.maxAttachmentBytes} bytes together.`, {
          param: 'messages',
        });
    }
    return { ...body, messages: kept };
  }
}

/** Members of a message, besides `content`, in which servers look for media. */
const media = ['image', 'images', 'image_url', 'video', 'videos', 'audio', 'files', 'documents'] as const;

const invalid = (detail: string, param: string, cause?: unknown): Failure =>
  new Failure('ATTACHMENT_INVALID', detail, { param, ...(cause ? { cause } : {}) });

/** Any address as lenient URL parsers read it: they skip leading blanks and ignore line breaks inside it. */
const address = /^[\s\p{Cc}]*(?:[a-z][a-z0-9+.-]*:[\\/]{2}|[\\/]{2}|file:)/iu;

function refuseAddresses(value: unknown, param: string): void {
  if (typeof value === 'string') {
    // Checks only the beginning: a part may hold megabytes.
    if (!/^data:/i.test(value) && address.test(value.slice(0, 400).replace(/[\t\r\n]/g, '')))
      throw invalid('It contains an address, which is not fetched here and must not reach a model server. Send the content itself.', param);
  } else if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) refuseAddresses(member, param);
}
