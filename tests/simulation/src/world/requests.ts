import { Readable } from 'node:stream';
import { Failure, type Caller } from '@conclave/contracts';
import type { Request, Response } from 'express';
import type { Random } from '../faults/random.js';
import { keyFor } from './gateway-options.js';
import type { Told } from './observations.js';
import type { SimulatedGateway, Surroundings } from './surroundings.js';
import { sleep } from './virtual-time.js';

/** A request as Express hands it to the controller of a route, such as `POST /v1/runs/:id/commands`. */
export function requestOf(caller: Caller, route: `${'POST' | 'DELETE'} /${string}`, body: unknown): Request {
  const [method, path] = route.split(' ');
  const headers = { authorization: `Bearer ${keyFor(caller)}`, 'content-type': 'application/json' };
  return Object.assign(Readable.from([Buffer.from(JSON.stringify(body))]), { headers, method, route: { path } }) as unknown as Request;
}

/** A response that keeps only its body. */
export class KeptResponse {
  body: unknown = null;
  readonly status = (): this => this;
  readonly setHeader = (): this => this;
  readonly json = (body: unknown): void => void (this.body = body);

  get asExpress(): Response {
    return this as unknown as Response;
  }
}

/** Codes after which a client sends its request again. */
const sendAgain: ReadonlySet<string> = new Set([
  ...['STORE_UNAVAILABLE', 'LOG_UNAVAILABLE', 'VECTORS_UNAVAILABLE', 'GRAPH_UNAVAILABLE', 'NOT_READY'],
]);
const patienceMs = 20_000;
const tries = 12;

/** Sends a request to one gateway after the other until one answers it. A request whose reply was lost may have taken effect. */
export function insist<T>(world: Surroundings, random: Random, act: (gateway: SimulatedGateway) => Promise<T>): Promise<Told<T>> {
  return world.during(async () => {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const told = await sent(world, random, act);
      if (told.kind !== 'lost' && !(told.kind === 'refused' && sendAgain.has(told.code))) return told;
      await sleep(random.between(200, 2_000));
    }
    return { kind: 'lost' };
  });
}

async function sent<T>(world: Surroundings, random: Random, act: (gateway: SimulatedGateway) => Promise<T>): Promise<Told<T>> {
  const process = await world.someGateway(random);
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => resolve({ kind: 'lost' }), patienceMs);
    act(process.gateway!)
      .then(
        (reply) => resolve({ kind: 'done', reply }),
        (error: unknown) => {
          if (error instanceof Failure) resolve({ kind: 'refused', code: error.code });
          else reject(error instanceof Error ? error : new Error(String(error)));
        },
      )
      .finally(() => clearTimeout(patience));
    void process.gone().then(() => resolve({ kind: 'lost' }));
  });
}
