import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { sessionCookie } from '@conclave/contracts';

/** A new token: 256 random bits. */
export const newToken = (): string => randomBytes(32).toString('base64url');

const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** The token in a Cookie header; null without one. */
export function tokenIn(header: string | undefined): string | null {
  for (const pair of (header ?? '').split(';')) {
    const [name, value = ''] = pair.trim().split('=', 2);
    if (name === sessionCookie) return isToken(value) ? value : '';
  }
  return null;
}

/** The id of a token in the store: the token cannot be derived from it. */
export const idOf = (token: string): string => derived(token, 'id').toString('hex');

/** The value that a page sends together with its cookie; a page of another origin can read neither. */
export const csrfOf = (token: string): string => derived(token, 'csrf').toString('base64url');

export function isCsrf(token: string, given: unknown): boolean {
  if (typeof given !== 'string') return false;
  const [wanted, got] = [Buffer.from(csrfOf(token)), Buffer.from(given)];
  return wanted.length === got.length && timingSafeEqual(wanted, got);
}

/** Encrypted with the token, so that the store alone reveals nothing about the key of a session. */
export function seal(token: string, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', derived(token, 'seal'), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Throws when it was encrypted with another token. */
export function unseal(token: string, box: string): string {
  const bytes = Buffer.from(box, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', derived(token, 'seal'), bytes.subarray(0, 12), { authTagLength: 16 });
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
}

const derived = (token: string, use: string): Buffer => createHmac('sha256', token).update(use).digest();
