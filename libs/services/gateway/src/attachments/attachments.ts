import { Inject, Injectable } from '@nestjs/common';
import { type Attachment, estimateTokens, Failure, type Template } from '@conclave/contracts';
import { putLocked } from '@conclave/ports';
import { canSee, knownStrategy } from '@conclave/strategies';
import { UploadQuota } from '../collections/upload-quota.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import type { GivenPart } from './content-parts.js';
import { type DecodedPart, readGiven } from './given-content.js';
import { RemoteImages } from './remote-images.js';

/** Characters of a file shown to the planner. */
const excerptLength = 600;

interface QuestionParts {
  readonly goal: string;
  readonly given: readonly GivenPart[];
}
type Whole = Exclude<DecodedPart, { kind: 'address' }>;
type Placed<Content = DecodedPart> = { readonly content: Content; readonly param: string };

/** Checks, reads and stores the images and files of a question for the experts. */
@Injectable()
export class Attachments {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(RemoteImages) private readonly remote: RemoteImages,
    @Inject(UploadQuota) private readonly quota: UploadQuota,
  ) {}

  /**
   * Returns the attachments of the last user message; those of earlier turns are skipped. Nothing is stored before everything is
   * checked. Throws ATTACHMENT_UNSUPPORTED, ATTACHMENT_INVALID, ATTACHMENTS_TOO_LARGE, UPLOAD_QUOTA_REACHED, VISION_MISSING,
   * REQUEST_INVALID, STORE_*.
   */
  async take({ goal, given }: QuestionParts, template: Template, tenant: string): Promise<readonly Attachment[]> {
    if (given.length === 0) return [];
    const asked = given.filter((one) => this.isAsked(one));
    const [first] = asked;
    if (first && knownStrategy(template.strategy)?.readsNoAttachments)
      throw new Failure(
        'ATTACHMENT_UNSUPPORTED',
        `Runs of the template "${template.id}" (strategy ${template.strategy}) do not read images and files.`,
        {
          param: first.param,
        },
      );
    if (asked.length > this.limits.maxAttachments) throw tooLarge(`The limit is ${this.limits.maxAttachments}.`);
    const placed = asked.map(({ part, param }): Placed => ({ content: readGiven(part, param), param }));
    const bytes = placed.reduce((sum, { content }) => sum + (content.kind === 'address' ? 0 : content.bytes.byteLength), 0);
    if (bytes > this.limits.maxAttachmentBytes) throw tooLarge(`They have ${bytes} bytes; the limit is ${this.limits.maxAttachmentBytes}.`);
    if (goal.trim() === '')
      throw new Failure('REQUEST_INVALID', 'The last user message has no text. Add the question about the image or file.', {
        param: 'messages',
      });
    const image = placed.find(({ content }) => content.kind !== 'file');
    if (image && !canSee(template)) throw new Failure('VISION_MISSING', `The template is "${template.id}".`, { param: image.param });
    const whole = await this.fetched(placed);
    const read = await Promise.all(whole.map((one) => this.read(one)));
    await this.quota.take(
      tenant,
      read.reduce((sum, one) => sum + one.bytes.byteLength, 0),
    );
    return Promise.all(read.map((one) => this.keep(one)));
  }

  /** Only user messages may carry images and files, and results of tools, whose files are not read here; audio parts are always refused. */
  private isAsked({ part, role, param, asked }: GivenPart): boolean {
    if ((role !== 'user' && role !== 'tool') || (part.type !== 'image_url' && part.type !== 'file'))
      throw new Failure(
        'ATTACHMENT_UNSUPPORTED',
        role === 'user' || role === 'tool'
          ? `The part is of the kind "${part.type.slice(0, 40)}".`
          : `Only messages of the role "user" may contain images and files.`,
        { param },
      );
    return asked;
  }

  /** Replaces addresses of images by their bytes. */
  private async fetched(placed: readonly Placed[]): Promise<readonly Placed<Whole>[]> {
    const { signal } = new AbortController();
    const whole = await Promise.all(
      placed.map(async ({ content, param }) =>
        content.kind === 'address' ? { content: await this.remote.fetch(content.url, param, signal), param } : { content, param },
      ),
    );
    const bytes = whole.reduce((sum, { content }) => sum + content.bytes.byteLength, 0);
    if (bytes > this.limits.maxAttachmentBytes) throw tooLarge(`They have ${bytes} bytes; the limit is ${this.limits.maxAttachmentBytes}.`);
    return whole;
  }

  /** Adds the text of a file. */
  private async read({ content, param }: Placed<Whole>): Promise<Whole & { readonly text?: string }> {
    if (content.kind !== 'file') return content;
    const { documents } = this.options;
    if (!documents) throw new Failure('ATTACHMENT_UNSUPPORTED', 'This installation cannot read files.', { param });
    try {
      const { text, mime } = await documents.read({ bytes: content.bytes, mime: content.readAs, name: content.name ?? '' });
      return { ...content, mime: content.readAs === 'text/plain' ? content.mime : mime, text };
    } catch (cause) {
      if (!(cause instanceof Failure) || !cause.code.startsWith('DOCUMENT_')) throw cause;
      const code = cause.code === 'DOCUMENT_UNSUPPORTED' ? 'ATTACHMENT_UNSUPPORTED' : 'ATTACHMENT_INVALID';
      throw new Failure(code, cause.detail ?? cause.message, { param, cause });
    }
  }

  private async keep(one: Whole & { readonly text?: string }): Promise<Attachment> {
    const { blobs } = this.options;
    if (!blobs) throw new Failure('ATTACHMENT_UNSUPPORTED', 'This installation cannot store images and files.');
    const { kind, mime, name, text } = one;
    const { sha256: blob, bytes, key } = await putLocked(blobs, text === undefined ? one.bytes : Buffer.from(text));
    const about =
      text === undefined ? {} : { text: { characters: text.length, tokens: estimateTokens(text), excerpt: text.slice(0, excerptLength) } };
    return { kind, mime, name, blob, bytes, key, url: null, ...about };
  }
}

const tooLarge = (detail: string): Failure => new Failure('ATTACHMENTS_TOO_LARGE', detail, { param: 'messages' });
