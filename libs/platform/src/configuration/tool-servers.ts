import { shippedToolServers, type Configuration } from '@conclave/contracts';

type Servers = Configuration['mcp'];

/**
 * The tool servers that are used: those of the file, and those that come with the product. What the file says about one of the latter
 * is added to it, unless it names another way to reach it. Whatever has `enabled: false` is left out.
 */
export function withShippedToolServers(configuration: Configuration): Configuration {
  const servers: Servers = { ...configuration.mcp };
  for (const [name, builtin] of Object.entries(shippedToolServers)) {
    const given = servers[name] ?? {};
    const elsewhere = given.builtin ?? given.url ?? given.command;
    servers[name] = elsewhere === undefined ? { ...given, builtin } : given;
  }
  const used = Object.entries(servers).filter(([, { enabled }]) => enabled !== false);
  return { ...configuration, mcp: Object.fromEntries(used) };
}
