import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { cleared, workspaceRoot } from '@conclave/test-support/system';
import type { World } from './world.js';

/** Environment for inspecting the system after the storm, without the proxies. */
export const outside = ({ system, servers, env }: World): Record<string, string> => ({
  ...system.environment(),
  ...env,
  ...(system.stack ? servers.direct : {}),
  LOG_LEVEL: 'error',
  PORT: '9',
});

/** Runs `conclave ...` as a person would, on the same installation. Resolves with its exit code and output; takes at most `timeoutMs`. */
export function conclave(
  world: World,
  args: readonly string[],
  timeoutMs = 120_000,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const main = join(workspaceRoot, 'dist/standalone.js');
  const options = {
    cwd: world.system.folder,
    env: { ...process.env, ...cleared, ...outside(world) },
    timeout: timeoutMs,
    maxBuffer: 64 * 1024 * 1024,
  };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, text: stdout + (child.exitCode === 0 ? '' : stderr) }),
    );
  });
}
