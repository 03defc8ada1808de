import { BlockList, isIP } from 'node:net';
import { type ContentPart, Failure } from '@conclave/contracts';

/** What a content part holds, decoded. */
export type DecodedPart =
  | { readonly kind: 'address'; readonly url: string }
  | { readonly kind: 'image'; readonly mime: string; readonly name: string | null; readonly bytes: Buffer }
  /** `readAs`: media type passed to the document reader. */
  | { readonly kind: 'file'; readonly mime: string; readonly readAs: string; readonly name: string | null; readonly bytes: Buffer };

const mediaType = /^[a-z0-9.+_-]{1,40}\/[a-z0-9.+_-]{1,100}$/;
const longestAddress = 2_048;
const longestName = 200;

/** Image types that vision models accept, recognised by their first bytes. */
const imageSigns: readonly (readonly [mime: string, is: (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ['image/gif', (bytes) => /^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))],
  ['image/webp', (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'],
];
const taken = 'PNG, JPEG, GIF or WebP';

/** Types read as plain text because the document reader has no type of its own for them; SVG is read as text too, never rendered. */
const alsoText = /^(?:image\/svg\+xml|application\/(?:[a-z0-9.-]+\+)?(?:xml|yaml|x-yaml|toml|javascript|x-sh|sql|graphql))$/;
const known: ReadonlySet<string> = new Set(['text/html', 'text/markdown', 'text/x-markdown', 'text/csv', 'text/tab-separated-values']);

/** Decodes a part; `param` is its path in the request. Throws ATTACHMENT_UNSUPPORTED, ATTACHMENT_INVALID. */
export function readGiven(part: ContentPart, param: string): DecodedPart {
  if (part.type === 'image_url') {
    const value = part['image_url'];
    const url = typeof value === 'string' ? value : memberOf(value, 'url');
    if (url === null) throw invalid('Set `image_url.url` to a data URL or an http(s) address.', param);
    return /^data:/i.test(url) ? contentOf(url, null, param) : { kind: 'address', url: addressOf(url, param) };
  }
  if (part.type === 'file') {
    const data = memberOf(part['file'], 'file_data');
    if (data === null || !/^data:/i.test(data))
      throw invalid(
        'Set `file.file_data` to a data URL, such as "data:application/pdf;base64,..."; ids and addresses of files are not supported.',
        param,
      );
    return contentOf(data, memberOf(part['file'], 'filename')?.slice(0, longestName) ?? null, param);
  }
  throw new Failure('ATTACHMENT_UNSUPPORTED', `The part is of the kind "${part.type.slice(0, 40)}".`, { param });
}

const memberOf = (value: unknown, name: string): string | null => {
  const member = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : null;
  return typeof member === 'string' ? member : null;
};

const invalid = (detail: string, param: string): Failure => new Failure('ATTACHMENT_INVALID', detail, { param });

function contentOf(url: string, name: string | null, param: string): DecodedPart {
  const comma = url.indexOf(',');
  const head = comma < 0 || comma > 400 ? null : /^data:([^;,]*)((?:;[^;,]*)*)$/i.exec(url.slice(0, comma));
  if (!head || !/;base64$/i.test(head[2]!)) throw invalid('Write it as "data:<media type>;base64,<content>".', param);
  const mime = head[1]!.trim().toLowerCase();
  if (mime !== '' && !mediaType.test(mime)) throw invalid('Its media type is invalid; a valid one is "image/png".', param);
  const bytes = decoded(url.slice(comma + 1), param);
  const image = imageSigns.find(([, is]) => is(bytes))?.[0];
  if (image) return { kind: 'image', mime: image, name, bytes };
  if (alsoText.test(mime) || (mime.startsWith('text/') && !known.has(mime)))
    return { kind: 'file', mime, readAs: 'text/plain', name, bytes };
  if (imageSigns.some(([sign]) => sign === mime))
    throw invalid(`It is declared as ${mime}, but its first bytes are not those of ${taken}.`, param);
  if (mime.startsWith('image/'))
    throw new Failure('ATTACHMENT_UNSUPPORTED', `The image is ${mime.slice(0, 80)}: convert it into ${taken}.`, { param });
  return { kind: 'file', mime: mime === '' ? 'application/octet-stream' : mime, readAs: mime, name, bytes };
}

/** Strict: refuses invalid base64 instead of skipping it, so that no model sees half an image. */
function decoded(text: string, param: string): Buffer {
  const plain = text.replaceAll(/[\r\n]/g, '').replace(/={1,2}$/, '');
  const bytes = Buffer.from(plain, 'base64');
  if (plain.length % 4 === 1 || bytes.byteLength !== Math.floor((plain.length * 3) / 4)) throw invalid('Its base64 is broken.', param);
  if (bytes.byteLength === 0) throw invalid('It is empty.', param);
  return bytes;
}

/** Addresses of this machine and of private networks, refused before any lookup. */
const inside = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  inside.addSubnet(net, bits);
for (const [net, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  inside.addSubnet(net, bits, 'ipv6');

/** Recognises a fetched image by its bytes; the content type of the response is ignored. Throws ATTACHMENT_INVALID. */
export function imageIn(bytes: Buffer, param: string): Extract<DecodedPart, { kind: 'image' }> {
  const mime = imageSigns.find(([, is]) => is(bytes))?.[0];
  if (!mime) throw invalid(`The content at its address is not ${taken}.`, param);
  return { kind: 'image', mime, name: null, bytes };
}

/** Returns an address that may be fetched; what its name resolves to is checked at the fetch. */
function addressOf(text: string, param: string): string {
  const url = text.length <= longestAddress && URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw invalid(`An image is a data URL, or an http(s) address of at most ${longestAddress} characters.`, param);
  if (url.username !== '' || url.password !== '') throw invalid('Its address contains a password.', param);
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const version = isIP(host);
  const isInside =
    version === 0
      ? !host.includes('.') || /\.(?:localhost|local|internal)$/.test(host)
      : inside.check(host, version === 6 ? 'ipv6' : 'ipv4');
  if (isInside) throw invalid('Its address is in a private network. Send the image itself as a data URL.', param);
  return url.href;
}
