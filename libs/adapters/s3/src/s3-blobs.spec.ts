import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeBlobs } from '@conclave/ports/suites';
import { keys, SigningServer } from './__fixtures__/signing-server.js';
import { S3Blobs, type S3Options } from './s3-blobs.js';

const optionsOf = (server: SigningServer, more: Partial<S3Options> = {}): S3Options => ({
  ...{ url: server.url, bucket: 'bodies', prefix: 'conclave/a b/', ...keys },
  ...more,
});

describeBlobs('a bucket', async () => {
  const server = await SigningServer.start();
  const another = () => Promise.resolve(new S3Blobs(optionsOf(server)));
  return {
    blobs: await another(),
    another,
    corrupt: ({ sha256 }) => Promise.resolve(void server.objects.set(`conclave/a b/${sha256}`, Buffer.from('something else'))),
    dispose: async () => {
      expect(server.refused).toEqual([]);
      await server.close();
    },
  };
});

describe('bodies in a bucket', () => {
  let server: SigningServer;
  const open = (more?: Partial<S3Options>) => new S3Blobs(optionsOf(server, more));
  beforeEach(async () => {
    server = await SigningServer.start();
  });
  afterEach(() => server.close());
  const ref = { sha256: 'ab'.repeat(32), bytes: 3 };

  it.each<[string, Partial<S3Options>, string]>([
    ['another secret', { secretKey: 'other' }, 'SignatureDoesNotMatch'],
    ['another key', { accessKey: 'OTHER' }, 'InvalidAccessKeyId'],
    ['another region', { region: 'us-east-1' }, 'AuthorizationHeaderMalformed'],
  ])('are refused with %s, and the message says where to look without naming the secret', async (_, more, fault) => {
    const failed = await open(more)
      .put(Buffer.from('x'))
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining('status 403). Check its keys') });
    expect(String((failed as Error).message)).not.toContain(more.secretKey ?? keys.secretKey);
    expect(server.refused).toEqual([fault]);
  });

  it('follow no redirect', async () => {
    const other = await SigningServer.start();
    server.next.push({ status: 307, headers: { location: `${other.url}/bodies/x` } });
    await expect(open().get(ref)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining('redirects') });
    expect(other.asked).toBe(0);
    await other.close();
  });

  it('are requested again after an error of the server, and unavailable after several', async () => {
    server.next.push({ status: 503 });
    expect((await open().put(Buffer.from('abc'))).bytes).toBe(3);
    expect([server.asked, server.objects.size]).toEqual([2, 1]);
    server.next.push(...Array.from({ length: 3 }, () => ({ status: 500 })));
    await expect(open().put(Buffer.from('def'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const blobs = open();
    await server.close();
    await expect(blobs.get(ref)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('cannot be reached'),
    });
    server = await SigningServer.start();
  });

  it('are read no further than their length', async () => {
    server.next.push({ status: 200, body: Buffer.alloc(5_000_000) });
    await expect(open().get(ref)).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
  });

  it('report that the bucket is missing', async () => {
    await expect(open({ bucket: 'other' }).put(Buffer.from('x'))).rejects.toMatchObject({
      message: expect.stringContaining('Does the bucket exist?'),
    });
  });
});
