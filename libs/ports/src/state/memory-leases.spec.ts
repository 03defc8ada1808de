import { describe, expect, it } from '@jest/globals';
import { LeasedDeliveries } from './memory-leases.js';

const delivery = { group: 'merger', record: 'plan.requested/0/0' };

describe('records held by a process', () => {
  const ledgerWith = (...living: string[]) => {
    const alive = new Set(living);
    const deliveries = new LeasedDeliveries((processId) => alive.has(processId));
    return {
      deliveries,
      of: (processId: string) => deliveries.ledger(processId),
      dies: (processId: string) => void alive.delete(processId),
    };
  };

  it('are those that were begun and not done, whether or not the process that began them is alive', async () => {
    const { deliveries, of, dies } = ledgerWith('first');
    await of('first').begin(delivery);
    dies('first');
    expect(deliveries.open()).toEqual(['merger plan.requested/0/0']);
  });

  it('are those that a living process began after another one was done with them, and not once it is dead', async () => {
    const { deliveries, of, dies } = ledgerWith('late', 'first');
    await of('first').begin(delivery);
    await of('first').done(delivery);
    await of('late').begin(delivery);
    expect(deliveries.open()).toEqual(['merger plan.requested/0/0']);
    dies('late');
    expect(deliveries.open()).toEqual([]);
  });
});
