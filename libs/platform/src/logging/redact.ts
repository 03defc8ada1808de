const secretName = /(^|[_.-])(api[_-]?key|key|token|secret|password|passwd|authorization|cookie|credential)s?$/i;
/** Names of fields that contain texts of people and models; these belong to the audit, never to a log. */
const contentName = /^(prompt|system|messages?|content|text|question|answer|goal|conversation|reply|draft|snippet|body|data)$/i;
const secretsInText: readonly (readonly [RegExp, string])[] = [
  [/\b(sk|pk|rk)-[A-Za-z0-9_-]{8,}/g, '$1-[redacted]'],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [redacted]'],
  [/((?<![a-z0-9+.-])[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s/@]*@/gi, '$1[redacted]@'],
  [/\b((?:api[_-]?key|token|password|secret)["']?\s*[=:]\s*["']?)[^\s"'&,;]+/gi, '$1[redacted]'],
];
const maxText = 2_000;

/** Text without keys, tokens and credentials in addresses, cut at 2,000 characters. */
export function redactText(text: string): string {
  const clean = secretsInText.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
  return clean.length > maxText ? `${clean.slice(0, maxText)}… (${clean.length - maxText} more characters)` : clean;
}

/**
 * Redacts a log value: fields named like secrets or content lose their value, text loses keys, nesting ends at four levels. Runs on every
 * field of every line, so no caller can forget it.
 */
export function redact(value: unknown, name = '', depth = 0): unknown {
  if (name && secretName.test(name) && value !== undefined && value !== null) return '[redacted]';
  if (name && contentName.test(name) && typeof value !== 'number' && value !== undefined && value !== null) return '[not logged]';
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? '[function]' : value;
  if (value instanceof Error) return errorFields(value, depth);
  if (depth >= 4) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => redact(item, '', depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redact(item, key, depth + 1)]));
}

function errorFields(error: Error, depth: number): unknown {
  const code = (error as { code?: unknown }).code;
  return {
    name: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    reason: redactText(error.message),
    ...(depth === 0 && error.stack ? { stack: redactText(error.stack) } : {}),
    ...(error.cause !== undefined && depth < 3 ? { cause: redact(error.cause, '', depth + 1) } : {}),
  };
}
