/** Keys that need no JSON escaping: nearly all of them. */
const plainKey = /^[\w./~-]*$/;

const { stringify } = JSON;

/** JSON with sorted keys and without undefined members, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) text += text === '' ? canonicalJson(item) : `,${canonicalJson(item)}`;
    return `[${text}]`;
  }
  // Sorted by UTF-16 code units, as in the hashes of recorded runs.
  const keys = Object.keys(value).sort();
  for (const key of keys) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    const name = plainKey.test(key) ? `"${key}"` : stringify(key);
    text += text === '' ? `${name}:${canonicalJson(member)}` : `,${name}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}
