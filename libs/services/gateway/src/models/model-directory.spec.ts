import { expect, it } from '@jest/globals';
import { failures } from '@conclave/contracts';
import type { TenantCollections } from '../collections/tenant-collections.js';
import type { GatewayLimits, GatewayOptions } from '../options.js';
import { ModelDirectory } from './model-directory.js';

it('a template whose model servers are down says so once, with what is known of each server', async () => {
  const { message } = failures.PROVIDER_UNREACHABLE;
  const catalogue = { resolve: () => null, waitsFor: async () => `a: ${message} Provider a (ECONNREFUSED).; b: does not answer` };
  const options = { catalogue } as unknown as GatewayOptions;
  const directory = new ModelDirectory(options, {} as GatewayLimits, {} as TenantCollections);
  await expect(directory.named('conclave', null)).rejects.toMatchObject({
    code: 'PROVIDER_UNREACHABLE',
    message: `${message} No model can serve conclave yet (a: Provider a (ECONNREFUSED).; b: does not answer).`,
  });
});
