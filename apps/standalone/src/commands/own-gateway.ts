import { newProcessId, type OpenPortsOptions } from '@conclave/host';
import { openObservers, type Loaded } from '@conclave/platform';
import { listen } from '../listen.js';
import { openOwnDoors } from '../own-doors.js';
import { openSystem, type EmbeddedSystem } from '../system.js';
import { GatewayClient } from './gateway-client.js';

export { GatewayRefusal, type GatewayClient } from './gateway-client.js';
export type { EmbeddedSystem } from '../system.js';

export interface OwnGateway {
  readonly loaded: Loaded;
  /** Command that needs it, for the name of the process. */
  readonly service: string;
  /** Receives warnings. */
  readonly terminal: { write(text: string): unknown };
  readonly localServers?: OpenPortsOptions['localServers'];
}

/** Opens everything in this process on the data folder, for as long as `use` takes. Throws DATA_FOLDER_IN_USE; errors of the stores pass through. */
export async function withOwnGateway<T>(
  { loaded, service, terminal, localServers }: OwnGateway,
  use: (client: GatewayClient, system: EmbeddedSystem) => Promise<T>,
): Promise<T> {
  const observers = openObservers({
    environment: loaded.environment,
    processId: newProcessId(service),
    service: 'standalone',
    interactive: { home: loaded.home, terminal },
  });
  const doors = openOwnDoors(loaded, { host: '127.0.0.1', lan: false });
  const system = await openSystem({ loaded, observers, doors, ...(localServers ? { localServers } : {}) });
  try {
    if (system.catalogue.found().choice.because === 'demo') terminal.write('(no model server found: the built-in DEMO model answers)\n');
    const { url } = await listen(system.gateway, '127.0.0.1', 0);
    // A user who may read the configuration may use any of its keys.
    const key = loaded.environment.CONCLAVE_API_KEY ?? Object.values(loaded.secrets.clientKeys)[0];
    return await use(new GatewayClient(url, key), system);
  } finally {
    await system.close();
  }
}
