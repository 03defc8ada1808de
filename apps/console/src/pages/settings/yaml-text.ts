/** Options as YAML that the gateway parses to the same values: JSON is valid YAML, so anything that is not plain is written as JSON. */
export function yamlText(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${JSON.stringify(value)}\n`;
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  if (entries.length === 0) return indent === '' ? '' : '{}\n';
  return entries
    .map(([key, entry]) => {
      const name = /^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key);
      const isMap = typeof entry === 'object' && entry !== null && !Array.isArray(entry) && Object.keys(entry).length > 0;
      return isMap ? `${indent}${name}:\n${yamlText(entry, `${indent}  `)}` : `${indent}${name}: ${yamlText(entry, `${indent}  `)}`;
    })
    .join('');
}
