#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { selectServers } from './stack/catalog.mjs';
import { withLock } from './stack/records.mjs';
import { down, status, up } from './stack/shared-stack.mjs';

const help = `The real servers on this machine, on 127.0.0.1 only.

  npm run stack -- up [--only kafka,redis,neo4j,searx,chroma] [--keep] [--install] [--local | --docker] [--corpus documents.json]
  npm run stack -- down [--only ...]
  npm run stack -- status

up uses Docker where an engine answers, and Java, Maven and Debian packages elsewhere. Without --only it starts kafka, redis,
neo4j and searx. Data is fresh at each up unless --keep. --install (or CI=true) lets it install missing Debian packages.
--corpus names the documents searx finds, a JSON list of { url, title, body }.
Addresses: deploy/.stack/env.json. Logs: deploy/.stack/<server>.log. Ports: CONCLAVE_STACK_<SERVER>_PORT.`;

const say = (text) => console.log(text);

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      keep: { type: 'boolean' },
      install: { type: 'boolean' },
      local: { type: 'boolean' },
      docker: { type: 'boolean' },
      corpus: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [command, ...rest] = positionals;
  if (values.help) return say(help);
  if (rest.length > 0 || !['up', 'down', 'status'].includes(command)) throw new Error(`Say what to do.\n\n${help}`);
  if (command === 'status') return (await status({ say })) > 0 ? 1 : 0;
  if (command === 'down')
    return withLock(async () => ((await down(values.only && selectServers(values.only), { say })) > 0 ? 1 : 0), { say });

  const how = values.docker ? 'docker' : values.local ? 'local' : undefined;
  const options = values.corpus ? { searx: { documents: JSON.parse(readFileSync(values.corpus, 'utf8')) } } : {};
  const settings = { keep: values.keep, install: values.install, how, options, say };
  return withLock(async () => ((await up(selectServers(values.only), settings)) > 0 ? 1 : 0), { say });
}

try {
  process.exitCode = (await main()) ?? 0;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
