import { createHash, randomBytes } from 'node:crypto';

/** Prefix of every issued key, by which a gateway without required keys distinguishes a revoked key from an arbitrary value. */
export const issuedPrefix = 'sk-cv-';

/** A new value: 256 random bits. */
export const newKeyValue = (): string => issuedPrefix + randomBytes(32).toString('base64url');

export const newKeyId = (): string => `key_${randomBytes(8).toString('hex')}`;

/** A fast hash is enough: 2^256 values cannot be tried, unlike the words of a password. */
export const hashOfKey = (value: string): string => createHash('sha256').update(value).digest('hex');

/** The part by which its owner recognises a value: 4 of its 43 random characters. */
export const hintOf = (value: string): string => `${issuedPrefix}…${value.slice(-4)}`;
