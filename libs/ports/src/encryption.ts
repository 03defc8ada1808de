import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const cipherName = 'aes-256-gcm';
export const keyBytes = 32;
const [ivBytes, tagBytes] = [12, 16];

/** Nonce, tag, then the encrypted bytes. */
export function encrypted(key: Buffer, plain: Buffer, bound: Buffer): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(cipherName, key, iv).setAAD(bound);
  const bytes = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), bytes]);
}

/** Null for bytes that this key has not encrypted, or that were bound to something else. */
export function decrypted(key: Buffer, bytes: Buffer, bound: Buffer): Buffer | null {
  if (bytes.length < ivBytes + tagBytes) return null;
  const decipher = createDecipheriv(cipherName, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes }).setAAD(bound);
  decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
  } catch {
    return null;
  }
}
