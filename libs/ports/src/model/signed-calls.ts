import { createHash } from 'node:crypto';
import { isJsonObject } from '../tools/tool-signature.js';
import type { JsonObject } from '../tools/tools.js';

/**
 * What a model server adds to a call of a tool and wants back with it in the next request: `extra_content.google.thought_signature` of Gemini 3,
 * under another name on other services. Null if the call has no signature.
 */
export function thoughtSignatureOf({ extra_content: extra }: JsonObject): JsonObject | null {
  if (!isJsonObject(extra)) return null;
  const isSigned = Object.values(extra).some((one) => isJsonObject(one) && typeof one['thought_signature'] === 'string');
  return isSigned ? extra : null;
}

const carried = /^(.+)__signed_([0-9a-f]{8})_([A-Za-z0-9_-]+)$/s;
/** Tells a signature that came back whole from an id that a client has shortened or cleaned. */
const checkOf = (id: string, signature: string): string => createHash('sha256').update(`${id}\n${signature}`).digest('hex').slice(0, 8);

/**
 * The id under which a client gets a call: it contains the signature of the call, because every client sends ids back, while most drop what
 * their API does not know. It has only letters, digits, `_` and `-`, as Anthropic's API requires, if the id itself has.
 */
export function signedId(id: string, call: JsonObject): string {
  const signature = thoughtSignatureOf(call);
  if (!signature) return id;
  const written = Buffer.from(JSON.stringify(signature)).toString('base64url');
  return `${id}__signed_${checkOf(id, written)}_${written}`;
}

/** The id of a call without its signature, and the signature; null if there is none, or the id was changed. */
export function unsignedId(id: string): { readonly id: string; readonly signature: JsonObject | null } {
  const [, own, check, written] = carried.exec(id) ?? [];
  if (own === undefined || checkOf(own, written!) !== check) return { id, signature: null };
  const signature = jsonIn(Buffer.from(written!, 'base64url').toString('utf8'));
  return isJsonObject(signature) ? { id: own, signature } : { id, signature: null };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A client made the id up: it stays as it is.
    return null;
  }
}

/** A text in which ids have no signatures. */
export const withoutSignatures = (text: string): string => text.replace(/__signed_[0-9a-f]{8}_[A-Za-z0-9_-]+/g, '');
