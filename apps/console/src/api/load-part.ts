import { gateway } from './gateway-state.js';

/**
 * Loads a part of the console. An interrupted connection delays it until the gateway answers again, instead of failing the page for good. Rejects
 * if a gateway that answers does not have the part, for example after an update.
 */
export const loadPart = <Part>(load: () => Promise<Part>): Promise<Part> =>
  load().catch(async () => ((await gateway.whenHere()) ? loadPart(load) : load()));
