// Writes the passwords and keys of docker-compose.yml into `.env` beside it, a different one for each; keeps existing ones.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Variables of docker-compose.yml that have no default. */
export const passwords = [
  'NEO4J_PASSWORD',
  'OPEN_WEBUI_API_KEY',
  'OPEN_WEBUI_SECRET',
  'REDIS_PASSWORD',
  'SEARXNG_SECRET',
  'GRAFANA_PASSWORD',
];

/** Adds what is missing to the file, which only its user can read then. Returns the added names. */
export function writePasswords(file) {
  const present = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const missing = passwords.filter((name) => !new RegExp(`^${name}=.+$`, 'm').test(present));
  if (missing.length === 0) return missing;
  // Only letters and digits, because each server reads its password from a different kind of text.
  const lines = missing.map((name) => `${name}=${randomBytes(24).toString('hex')}\n`);
  const start = present === '' || present.endsWith('\n') ? present : `${present}\n`;
  writeFileSync(file, start + lines.join(''), { mode: 0o600 });
  chmodSync(file, 0o600);
  return missing;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = path.resolve(import.meta.dirname, '..', '.env');
  const added = writePasswords(file);
  process.stdout.write(added.length > 0 ? `Wrote ${added.join(', ')} into ${file}.\n` : `${file} already contains all of them.\n`);
}
