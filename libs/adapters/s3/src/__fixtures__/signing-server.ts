import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const keys = { accessKey: 'AKIDEXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', region: 'eu-central-1' } as const;

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Why an S3 server would refuse this request; null if it is signed as the documentation of "Signature Version 4" requires. */
function faultOf({ method, url, headers }: IncomingMessage, body: Buffer): string | null {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!given) return 'AccessDenied';
  const [, id, day, region, names, signature] = given as unknown as string[];
  if (id !== keys.accessKey) return 'InvalidAccessKeyId';
  if (region !== keys.region) return 'AuthorizationHeaderMalformed';
  const signed = names!.split(';');
  for (const name of ['host', 'x-amz-content-sha256', 'x-amz-date']) if (!signed.includes(name)) return `${name} is not signed`;
  const at = String(headers['x-amz-date']);
  const time = Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!at.startsWith(day!) || Math.abs(Date.now() - time) > 900_000) return 'RequestTimeTooSkewed';
  if (headers['x-amz-content-sha256'] !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const { pathname, searchParams } = new URL(url!, 'http://server');
  const request = [
    method,
    pathname,
    searchParams.toString(),
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${keys.secretKey}`, day!), region!));
  const expected = hmac(key, ['AWS4-HMAC-SHA256', at, scope, sha256(request)].join('\n'));
  return timingSafeEqual(expected, Buffer.from(signature!, 'hex')) ? null : 'SignatureDoesNotMatch';
}

/** Keeps objects of one bucket, `bodies`, and refuses invalid signatures, like an S3 server. */
export class SigningServer {
  readonly objects = new Map<string, Buffer>();
  readonly refused: string[] = [];
  /** Answers the next requests, oldest first, instead of the store. */
  readonly next: { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer }[] = [];
  asked = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<SigningServer> {
    const server = createServer();
    const signing = new SigningServer(server);
    server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { status, headers, body } = signing.answer(request, Buffer.concat(parts));
        response.writeHead(status, headers).end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return signing;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private answer(request: IncomingMessage, body: Buffer): (typeof this.next)[number] {
    this.asked += 1;
    const scripted = this.next.shift();
    if (scripted) return scripted;
    const fault = faultOf(request, body);
    if (fault !== null) {
      this.refused.push(fault);
      return { status: 403, body: `<Error><Code>${fault}</Code></Error>` };
    }
    const { pathname } = new URL(request.url!, this.url);
    if (!pathname.startsWith('/bodies/')) return { status: 404, body: '<Error><Code>NoSuchBucket</Code></Error>' };
    const name = decodeURIComponent(pathname.slice('/bodies/'.length));
    if (request.method === 'PUT') {
      this.objects.set(name, body);
      return { status: 200 };
    }
    const found = this.objects.get(name);
    return found ? { status: 200, body: found } : { status: 404, body: '<Error><Code>NoSuchKey</Code></Error>' };
  }
}
