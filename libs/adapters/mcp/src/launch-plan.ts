import { nearest, type Configuration } from '@conclave/contracts';

/** Tool servers of the configuration, by name. */
export type ConfiguredServers = Configuration['mcp'];

/** How to start a program that ships with the product. */
export interface BuiltinServer {
  readonly command: string;
  readonly args: readonly string[];
}

export type Launch =
  | {
      readonly kind: 'program';
      readonly command: string;
      readonly args: readonly string[];
      /** The program's entire environment. */
      readonly env: Readonly<Record<string, string>>;
      readonly folder: string | undefined;
    }
  | { readonly kind: 'address'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'refused'; readonly reason: string };

export interface LaunchSources {
  /** Variables of this process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly builtins: Readonly<Record<string, BuiltinServer>>;
  /** Working directory of programs; relative paths in their arguments refer to it. */
  readonly folder?: string;
}

/** Variables every program needs; others in our environment may contain keys. */
const passedOn = ['PATH', 'HOME'];

/** How to reach one server, or a sentence why it cannot be reached. */
export function launchOf(name: string, server: ConfiguredServers[string], sources: LaunchSources): Launch {
  const { builtin, url, command } = server;
  const ways = [builtin, url, command].filter((way) => way !== undefined);
  if (ways.length !== 1)
    return refused(
      `mcp.${name}: ${ways.length === 0 ? 'its address is missing' : 'it has several addresses'}. Keep one of \`builtin\`, \`url\` and \`command\`.`,
    );
  const { missing, values: env } = valuesOf(server.env, sources);
  if (missing) return refused(`mcp.${name}: ${unset(missing, 'env')}`);
  if (url !== undefined) {
    const headers = valuesOf(server.headers_env, sources);
    return headers.missing
      ? refused(`mcp.${name}: ${unset(headers.missing, 'headers_env')}`)
      : { kind: 'address', url, headers: headers.values };
  }
  const environment = { ...valuesOf(Object.fromEntries(passedOn.map((variable) => [variable, variable])), sources).values, ...env };
  if (builtin !== undefined) {
    const known = Object.hasOwn(sources.builtins, builtin) ? sources.builtins[builtin] : undefined;
    const near = nearest(builtin, Object.keys(sources.builtins));
    if (!known) return refused(`mcp.${name}: there is no built-in server \`${builtin}\`.${near ? ` Did you mean \`${near}\`?` : ''}`);
    return { kind: 'program', command: known.command, args: known.args, env: environment, folder: sources.folder };
  }
  if (server.allow !== true)
    return refused(`mcp.${name}: \`${command}\` is not started. Add \`allow: true\` if this program may run on this machine.`);
  return { kind: 'program', command: command!, args: server.args ?? [], env: environment, folder: sources.folder };
}

/** A sentence on a variable that is not set. What cannot be the name of one may be a key, so it is not repeated. */
const unset = ([name, from]: readonly [string, string], key: string): string =>
  /^[A-Z_][A-Z0-9_]{0,99}$/.test(from)
    ? `the environment variable ${from} is not set. Set it, or remove it from \`${key}\`.`
    : `\`${key}.${name}\` must be the name of an environment variable that is set, such as ${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}, and not the value itself.`;

const refused = (reason: string): Launch => ({ kind: 'refused', reason });

/** The values of variables, and the first entry whose variable is not set. */
function valuesOf(
  names: Readonly<Record<string, string>> | undefined,
  { environment }: LaunchSources,
): { readonly values: Readonly<Record<string, string>>; readonly missing: readonly [string, string] | undefined } {
  const pairs = Object.entries(names ?? {}).map(([name, from]) => [name, from, environment[from]] as const);
  return {
    values: Object.fromEntries(pairs.flatMap(([name, , value]) => (value === undefined ? [] : [[name, value] as const]))),
    missing: pairs.flatMap(([name, from, value]) => (value === undefined || value === '' ? [[name, from] as const] : []))[0],
  };
}
