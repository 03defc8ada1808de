import { networkInterfaces } from 'node:os';
import type { KeyFile } from '@conclave/app-gateway';

/** Addresses of this machine that others can call, IPv4 first. */
const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .sort((a, b) => a.family.localeCompare(b.family))
    .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));

/** What a person pastes so that programs of this and other machines ask here. The key itself is shown in the start that has made it. */
export function lanText(port: number, { file, value, made }: KeyFile, addresses = ownAddresses()): readonly string[] {
  const base = (host: string): string => `http://${host}:${port}/v1`;
  const key = made ? value : `"$(cat '${file}')"`;
  const settings = (host: string): string => `OPENAI_API_BASE_URL=${base(host)} OPENAI_API_KEY=${key}`;
  return [
    made ? `A key for other programs was made: ${value} (kept in ${file})` : `The key for other programs is in ${file}`,
    '',
    'Open WebUI in Docker on this machine:',
    '',
    `  docker run --add-host=host.docker.internal:host-gateway -e OPENAI_API_BASE_URL=${base('host.docker.internal')} -e OPENAI_API_KEY=${key} ...`,
    '',
    'Open WebUI without Docker on this machine:',
    '',
    `  ${settings('127.0.0.1')} open-webui serve`,
    '',
    ...(addresses.length > 0 ? ['From other machines:', '', ...addresses.slice(0, 3).map((host) => `  ${settings(host)}`), ''] : []),
  ];
}
