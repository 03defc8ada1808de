import { fileURLToPath } from 'node:url';
import type { ConfiguredServers } from '../launch-plan.js';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The server built with the SDK. */
export const sampleProgram: ConfiguredServers[string] = {
  command: process.execPath,
  args: [path('./sample-program.mjs'), 'more'],
  allow: true,
};

/** The server without a library, which starts fast; with the name of a mode it misbehaves. */
export const plainProgram = (...args: readonly string[]): ConfiguredServers[string] => ({
  command: process.execPath,
  args: [path('./plain-program.mjs'), ...args],
  allow: true,
});
