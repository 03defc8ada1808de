import { join } from 'node:path';
import { openDoors, type Doors } from '@conclave/app-gateway';
import type { Loaded } from '@conclave/platform';

/** File with the admin key in a data folder. */
export const adminKeyFile = (home: string): string => join(home, 'admin.key');

/** Access rules of a gateway with its keys in its own data folder. Throws CONFIGURATION_INVALID. */
export const openOwnDoors = (loaded: Loaded, { host, lan }: { readonly host: string; readonly lan: boolean }): Doors =>
  openDoors({ loaded, host, adminKeyFile: adminKeyFile(loaded.home), lanKeyFile: lan ? join(loaded.home, 'lan.key') : null });
