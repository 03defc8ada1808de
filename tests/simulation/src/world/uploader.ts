import { Failure } from '@conclave/contracts';
import type { Random } from '../faults/random.js';
import { collection } from './templates.js';
import { sleep } from './virtual-time.js';
import type { Surroundings } from './surroundings.js';

const caller = { tenant: 'default', actor: 'uploader' };

/** Uploads documents to the collection, some of them twice, and removes some again; repeats lost requests until they are confirmed. */
export async function upload(world: Surroundings, random: Random, n: number): Promise<void> {
  const { documents } = world.observations;
  await sleep(random.between(0, 2_000));
  const words = Array.from({ length: random.between(5, 400) }, (_, at) => `${random.pick(['topic', 'amber', 'basalt'])}${at % 7}`);
  const content = { name: `d${n}.txt`, mime: 'text/plain', bytes: Buffer.from(`topic t${n}x\n\n${words.join(' ')}`), metadata: {} };
  const taken = await insist(world, random, (gateway) => gateway.take(caller, collection, content));
  if (!taken) return;
  documents.set(taken.id, 'taken');
  if (random.chance(0.3)) await insist(world, random, (gateway) => gateway.take(caller, collection, content));
  if (!random.chance(0.4)) return;
  await sleep(random.between(0, 1_500));
  // It is unknown whether a removal whose reply was lost took effect.
  documents.set(taken.id, 'unknown');
  const removed = await insist(world, random, (gateway) => gateway.remove(caller.tenant, collection, taken.id).then(() => true));
  if (removed) documents.set(taken.id, 'removed');
}

type Documents = NonNullable<Awaited<ReturnType<Surroundings['someGateway']>>['gateway']>['documents'];

async function insist<T>(world: Surroundings, random: Random, act: (documents: Documents) => Promise<T>): Promise<T | null> {
  for (let attempt = 0; attempt < 12; attempt += 1) {
    const process = await world.someGateway(random);
    const said = await new Promise<T | null>((resolve, reject) => {
      const patience = setTimeout(() => resolve(null), 20_000);
      act(process.gateway!.documents)
        .then(resolve, (error: unknown) => {
          // Sent again after its first try had removed it.
          if (error instanceof Failure) resolve(null);
          else reject(error instanceof Error ? error : new Error(String(error)));
        })
        .finally(() => clearTimeout(patience));
      void process.gone().then(() => resolve(null));
    });
    if (said !== null) return said;
    await sleep(random.between(200, 2_000));
  }
  return null;
}
