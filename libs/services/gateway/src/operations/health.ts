import { Inject, Injectable } from '@nestjs/common';
import pTimeout from 'p-timeout';
import { Failure } from '@conclave/contracts';
import { EVENT_LOG, type EventLog, STATE, type StateStore } from '@conclave/ports';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Connections } from '../stream/connections.js';

/** Milliseconds a store may take to report its health before it counts as red. */
const answerMs = 2_000;

/** Whether this gateway can work; the reasons against it are sentences. */
@Injectable()
export class Health {
  private stores: { readonly red: Promise<readonly string[]>; readonly until: number } | null = null;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(Connections) private readonly connections: Connections,
  ) {}

  /** Sentences about what is red. */
  async red(): Promise<readonly string[]> {
    const consumers = (this.options.consumers?.() ?? []).flatMap((consumer) => {
      const sentence = consumer.health();
      return sentence === null ? [] : [`Consumer ${consumer.group}: ${sentence}`];
    });
    const stopping = this.connections.shuttingDown ? ['The gateway is shutting down.'] : [];
    return [...stopping, ...(await this.storesRed()), ...consumers, ...((await this.options.problems?.()) ?? [])];
  }

  /** Throws SHUTTING_DOWN or NOT_READY when a run accepted now could not be stored or published. */
  async assertAccepting(): Promise<void> {
    if (this.connections.shuttingDown) throw new Failure('SHUTTING_DOWN', 'Nothing was accepted; send the request again.');
    const red = await this.storesRed();
    if (red.length > 0) throw new Failure('NOT_READY', red.join(' '));
  }

  private storesRed(): Promise<readonly string[]> {
    if (!this.stores || Date.now() >= this.stores.until) {
      const red = Promise.all([sentence('Event log', () => this.log.health()), sentence('State store', () => this.state.health())]).then(
        (sentences) => sentences.filter((text) => text !== null),
      );
      this.stores = { red, until: Date.now() + this.limits.healthCacheMs };
    }
    return this.stores.red;
  }
}

/** A store that throws or does not answer counts as red. */
async function sentence(name: string, ask: () => Promise<string | null>): Promise<string | null> {
  try {
    const said = await pTimeout(ask(), { milliseconds: answerMs, fallback: () => `does not answer within ${answerMs} ms.` });
    return said === null ? null : `${name}: ${said}`;
  } catch (error) {
    return `${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
