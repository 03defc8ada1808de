import { chroma } from './chroma.mjs';
import { kafka } from './kafka.mjs';
import { neo4j } from './neo4j.mjs';
import { redis } from './redis.mjs';
import { searx } from './searx.mjs';

/** The servers `up` starts when none are named. */
const usual = [kafka, redis, neo4j, searx];
export const servers = [...usual, chroma];

/** Servers named as in `--only kafka,redis`; the usual ones without names. Throws on an unknown name. */
export function selectServers(only) {
  if (only === undefined) return usual;
  const names = only
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  return names.map((name) => {
    const server = servers.find((candidate) => candidate.name === name || (name === 'searxng' && candidate === searx));
    if (!server) throw new Error(`There is no server "${name}". Choose from ${servers.map((known) => known.name).join(', ')}.`);
    return server;
  });
}
