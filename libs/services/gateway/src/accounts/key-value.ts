import { createHash, randomBytes } from 'node:crypto';

/** Begins the value of every issued key, so that a gateway without keys tells a revoked one from an arbitrary one. */
export const issuedPrefix = 'sk-cv-';

/** A new value: 256 random bits. */
export const newKeyValue = (): string => issuedPrefix + randomBytes(32).toString('base64url');

export const newKeyId = (): string => `key_${randomBytes(8).toString('hex')}`;

/** A fast hash is enough: nobody can try 2^256 values, as one could the words of a password. */
export const hashOfKey = (value: string): string => createHash('sha256').update(value).digest('hex');

/** What its owner recognises a value by: 4 of its 43 random characters. */
export const hintOf = (value: string): string => `${issuedPrefix}…${value.slice(-4)}`;
