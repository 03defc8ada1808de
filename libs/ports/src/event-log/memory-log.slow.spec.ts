import { MemoryBlobs } from '../blobs/memory-blobs.js';
import { describeEventLog } from './event-log.contract.js';
import { MemoryDeliveries } from './memory-ledger.js';
import { MemoryBroker, type MemoryLog } from './memory-log.js';

describeEventLog('MemoryLog', {
  open: async () => {
    const deliveries = new MemoryDeliveries({ leaseMs: 100, now: Date.now });
    const broker = new MemoryBroker({ deliveries, blobs: new MemoryBlobs() });
    const logs: MemoryLog[] = [];
    const connect = () => {
      const log = broker.connect();
      logs.push(log);
      return log;
    };
    return {
      log: connect(),
      another: async () => connect(),
      crash: async (log) => (log as MemoryLog).crash(),
      publishRaw: async (record) => broker.append([record]),
      ledgerOutage: {
        begin: async () => void (deliveries.down = true),
        end: async () => void (deliveries.down = false),
      },
      dispose: async () => void (await Promise.all(logs.map((log) => log.close()))),
    };
  },
  gaps: {
    'loses nothing it acknowledged when connections are cut in the middle of sends': 'It has no connections.',
  },
});
