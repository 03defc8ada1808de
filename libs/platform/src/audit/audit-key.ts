import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '@conclave/ports';
import { Failure } from '@conclave/contracts';

/** Signs the heads of exported audits. */
export interface AuditKey {
  readonly file: string;
  /** DER (SPKI) in base64, as auditors keep it. */
  readonly publicKey: string;
  /** Whether this call created the file. */
  readonly made: boolean;
  /** Signature in base64. */
  sign(text: string): string;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/** Opens the Ed25519 key (PKCS#8, PEM) in this file, or creates one that only this user can read. Throws CONFIGURATION_INVALID. */
export function openAuditKey(file: string): AuditKey {
  const present = readPem(file);
  const pem = present ?? makePem(file);
  const key = privateKeyOf(pem, file);
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  return { file, publicKey, made: present === null, sign: (text) => sign(null, Buffer.from(text), key).toString('base64') };
}

function readPem(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new Failure('CONFIGURATION_INVALID', `The key in ${file} cannot be read (${codeOf(error)}). Let this user read the file.`, {
      cause: error,
    });
  }
}

function makePem(file: string): string {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  try {
    makeFolder(dirname(file), 0o700);
    writeFileSync(file, pem, { mode: 0o600, flag: 'wx' });
    return pem;
  } catch (error) {
    // Another process on the same folder was faster; its key is used.
    const other = codeOf(error) === 'EEXIST' ? readPem(file) : null;
    if (other !== null) return other;
    throw new Failure(
      'CONFIGURATION_INVALID',
      `No key can be created at ${file} (${codeOf(error)}). Let this user write there, or name a key with CONCLAVE_AUDIT_KEY_FILE.`,
      { cause: error },
    );
  }
}

function privateKeyOf(pem: string, file: string): KeyObject {
  const mistake = new Failure(
    'CONFIGURATION_INVALID',
    `${file} does not contain an Ed25519 key: \`openssl genpkey -algorithm ed25519 -out ${file}\` makes one.`,
  );
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The text of the error may quote the file.
    throw mistake;
  }
  if (key.asymmetricKeyType !== 'ed25519') throw mistake;
  return key;
}

/** A public key as base64 of its DER form, read from that form or from PEM; null for any other text. */
export function auditPublicKeyOf(text: string): string | null {
  try {
    const key = text.includes('-----BEGIN')
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text.trim(), 'base64'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' ? key.export({ type: 'spki', format: 'der' }).toString('base64') : null;
  } catch {
    return null;
  }
}

/** Whether the private half of this key has signed the text. */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' && verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}
