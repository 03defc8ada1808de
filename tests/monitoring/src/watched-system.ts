import type { Mode } from '@conclave/contracts';
import { System } from '@conclave/test-support/system';
import { answerAll, configurationFor, corpus, startProviders } from './committee.js';
import { Prometheus, type Target } from './prometheus.js';

/** A running system that a Prometheus scrapes, and the model servers behind it. */
export interface Watched {
  readonly system: System;
  readonly prometheus: Prometheus;
  /** Closes a provider that has answered until now. */
  breakProvider(): Promise<void>;
  stop(): Promise<void>;
}

/** Service of a process by its name: `experts-2` is a process of `experts`. */
const serviceOf = (name: string): string => name.replace(/-\d+$/, '');

/** The targets of Prometheus: every process of the system. */
export const targetsOf = (system: System): readonly Target[] =>
  [...system.all().keys()].map((name) => ({ job: serviceOf(name), address: new URL(system.metricUrl(name)).host }));

/** Starts the shipped programs in this mode, with two experts if they are separate processes. */
export async function startWatched(mode: Mode, options: { readonly fast: boolean }): Promise<Watched> {
  const providers = await startProviders();
  const configuration: Record<string, unknown> = {};
  let system: System | null = null;
  try {
    system = await System.start({
      mode,
      corpus,
      experts: 2,
      configuration,
      modelUrl: (own) => {
        // Written only now, because the address of the models is known once they answer.
        Object.assign(configuration, configurationFor(providers, own));
        return own;
      },
    });
    const running = system;
    answerAll(running.models);
    const prometheus = await Prometheus.start(targetsOf(running), options);
    await prometheus.seesAll();
    return {
      system: running,
      prometheus,
      breakProvider: () => providers.sick.close(),
      stop: async () => {
        await prometheus.stop();
        await running.stop();
        await providers.close();
      },
    };
  } catch (error) {
    await system?.stop();
    await providers.close();
    throw error;
  }
}
