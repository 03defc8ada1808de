import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { stackAddresses, workspaceRoot } from '@conclave/test-support/system';

const wanted = 'kafka,redis,neo4j,searx';

/**
 * The real servers of the distributed engine: those that are up are used and left alone, otherwise the local stack is started and stopped
 * again at the end. Throws when it does not come up.
 */
export async function useServers(needed: boolean): Promise<void> {
  if (!needed || areUp()) return;
  console.log('Starting Kafka, Redis, Neo4j and searx ...');
  const stack = join(workspaceRoot, 'deploy/stack.mjs');
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(process.execPath, [stack, 'up', '--install', '--only', wanted], { stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0 || !areUp()) throw new Error('The servers of the distributed engine did not start; --engine embedded needs none.');
  process.once('exit', () => spawnSync(process.execPath, [stack, 'down', '--only', wanted], { stdio: 'inherit', timeout: 60_000 }));
}

function areUp(): boolean {
  try {
    stackAddresses();
    return true;
  } catch {
    // It says which address is missing: then the stack is not up.
    return false;
  }
}
