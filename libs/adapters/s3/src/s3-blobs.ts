import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import type { BlobRef, Blobs } from '@conclave/ports';
import { AwsClient } from 'aws4fetch';

export interface S3Options {
  /** Address of the server; the bucket is the first part of the path. */
  readonly url: string;
  readonly bucket: string;
  readonly region: string;
  /** Prefix of each name; may contain slashes. */
  readonly prefix: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Milliseconds of one request until its last byte. */
  readonly timeoutMs?: number;
}

const usualTimeoutMs = 60_000;
const hashOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

/**
 * Bodies as objects of a bucket, named by their hash. The hash is signed with each request, so the server refuses a body that changed on
 * the way. A lifecycle rule of the bucket removes them; Conclave never does.
 */
export class S3Blobs implements Blobs {
  private readonly client: AwsClient;

  constructor(private readonly options: S3Options) {
    const { accessKey: accessKeyId, secretKey: secretAccessKey, region } = options;
    this.client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 2, initRetryMs: 200 });
  }

  async put(body: Buffer): Promise<BlobRef> {
    const copy = new Uint8Array(body);
    const ref = { sha256: hashOf(body), bytes: body.byteLength };
    const response = await this.send('PUT', ref.sha256, ref.sha256, copy);
    await response.body?.cancel();
    if (!response.ok) throw refused('store', response.status);
    return ref;
  }

  async get(ref: BlobRef): Promise<Buffer> {
    const context = { sha256: ref.sha256 };
    const response = await this.send('GET', ref.sha256, hashOf(Buffer.alloc(0)));
    if (response.status === 404 || !response.ok) {
      await response.body?.cancel();
      throw response.status === 404 ? new Failure('BLOB_MISSING', undefined, { context }) : refused('give back', response.status);
    }
    const body = await read(response, ref.bytes);
    if (body === null || body.byteLength !== ref.bytes || hashOf(body) !== ref.sha256)
      throw new Failure('BLOB_CORRUPT', undefined, { context });
    return body;
  }

  /** Follows no redirect, so that the signature reaches no other server. */
  private async send(method: 'GET' | 'PUT', name: string, payload: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    const { url, bucket, prefix, timeoutMs = usualTimeoutMs } = this.options;
    const path = `${bucket}/${prefix}${name}`.split('/').map(encodeURIComponent).join('/');
    try {
      return await this.client.fetch(`${url.replace(/\/+$/, '')}/${path}`, {
        method,
        redirect: 'manual',
        headers: { 'x-amz-content-sha256': payload },
        signal: AbortSignal.timeout(timeoutMs),
        ...(body ? { body } : {}),
      });
    } catch (error) {
      throw unavailable(
        error instanceof Error && error.name === 'TimeoutError' ? `does not answer within ${timeoutMs} ms` : 'cannot be reached',
        error,
      );
    }
  }
}

/** The whole body; null if it is longer than it should be. Throws STORE_UNAVAILABLE when it breaks off. */
async function read(response: Response, bytes: number): Promise<Buffer | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of response.body ?? []) {
      length += part.byteLength;
      // Leaving the loop cancels the rest.
      if (length > bytes) return null;
      parts.push(part);
    }
  } catch (error) {
    throw unavailable('broke off', error);
  }
  return Buffer.concat(parts);
}

const unavailable = (what: string, cause?: unknown): Failure =>
  new Failure('STORE_UNAVAILABLE', `The server of stored bodies (\`stores.blobs.s3\`) ${what}.`, { cause });

function refused(what: string, status: number): Failure {
  if (status >= 300 && status < 400) return unavailable('redirects to another address: write the final one into the configuration');
  if (status === 507) return new Failure('STORE_FULL', 'The server of stored bodies has no room left.');
  const hint =
    status === 403 ? ' Check its keys, its region and the rights to the bucket.' : status === 404 ? ' Does the bucket exist?' : '';
  return new Failure('STORE_UNAVAILABLE', `The server of stored bodies did not ${what} one (status ${status}).${hint}`);
}
