import { existsSync } from 'node:fs';
import { findOnPath, run } from './processes.mjs';

/** True if `up` may install Debian packages itself: root, apt, and CI=true or --install. */
export const mayInstall = (asked) => canInstall() && (asked || process.env.CI === 'true');

const canInstall = () => process.getuid?.() === 0 && findOnPath('apt-get') !== null && existsSync('/etc/debian_version');

/** The command to install these packages by hand, or null without apt. */
export function installCommand(packages) {
  if (packages.length === 0 || findOnPath('apt-get') === null) return null;
  const sudo = process.getuid?.() === 0 ? '' : 'sudo ';
  return `${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends ${packages.join(' ')}`;
}

/** Installs Debian packages without starting the services that they contain. */
export async function installPackages(packages) {
  // RUNLEVEL=1: invoke-rc.d starts no service, so Debian's own redis-server does not take the usual port.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env });
}
