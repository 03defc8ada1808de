import { parseArgs } from 'node:util';

export const usage = `Deterministic tools over the Model Context Protocol.

  node main.js                         serve on stdin and stdout
  node main.js --http [--port 8091]    serve streamable HTTP at /mcp

  --http             serve HTTP instead of stdio
  --host HOST        address to listen on (127.0.0.1)
  --port PORT        port to listen on (8091); 0 chooses a free one
  --allow-host NAME  further name that is accepted in the Host and Origin headers; can be repeated
  --law-url URL      base address of the German laws (or CONCLAVE_LAW_URL), such as https://www.gesetze-im-internet.de
  --only-usable      list only tools that have all they need: no law tools without an address
  --help             this text
`;

export interface Options {
  help: boolean;
  http: boolean;
  host: string;
  port: number;
  allowedHosts: readonly string[];
  lawUrl: string | undefined;
  onlyUsable: boolean;
}

/** Reads the command line and the environment. Throws an Error with a sentence for each mistake. */
export function readOptions(args: readonly string[], environment: Readonly<Record<string, string | undefined>>): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      http: { type: 'boolean', default: false },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8091' },
      'allow-host': { type: 'string', multiple: true, default: [] },
      'law-url': { type: 'string' },
      'only-usable': { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port takes a number from 0 to 65535, not "${values.port}".`);
  const lawUrl = values['law-url'] ?? environment.CONCLAVE_LAW_URL;
  const { help, http, host, 'allow-host': allowedHosts, 'only-usable': onlyUsable } = values;
  return { help, http, host, port, allowedHosts, lawUrl: lawUrl || undefined, onlyUsable };
}
