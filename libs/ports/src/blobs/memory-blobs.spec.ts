import { describeBlobs } from './blobs.contract.js';
import { MemoryBlobs } from './memory-blobs.js';

describeBlobs('MemoryBlobs', async () => {
  const blobs = new MemoryBlobs();
  return {
    blobs,
    another: async () => blobs,
    corrupt: async (ref) => blobs.corrupt(ref),
    dispose: async () => {},
  };
});
