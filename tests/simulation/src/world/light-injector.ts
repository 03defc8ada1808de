import type { DynamicModule, Provider, Type } from '@nestjs/common';

/** Nest's own metadata keys. */
const injectedParameters = 'self:paramtypes';
const patternOf = 'microservices:pattern';

type InjectionToken = unknown;
const metadata = (key: string, target: object): unknown =>
  (Reflect as unknown as { getMetadata(key: string, target: object): unknown }).getMetadata(key, target);

/** A handler method of a controller and the pattern it is registered under. */
export interface PatternHandler {
  readonly pattern: string;
  readonly handle: (payload: unknown, context: unknown) => unknown;
}

/**
 * The objects of a Nest module, created from the module's own metadata. Nest itself takes tens of milliseconds for an application, which is
 * too slow for a simulation with hundreds of process lives per second; the modules, tokens and handlers are the same.
 */
export class Assembled {
  private readonly made = new Map<InjectionToken, unknown>();
  private readonly makers = new Map<InjectionToken, () => unknown>();
  private readonly controllers: Type[] = [];

  constructor(
    root: DynamicModule,
    values: ReadonlyMap<InjectionToken, unknown>,
    replaced: ReadonlyMap<InjectionToken, unknown> = new Map(),
  ) {
    for (const [token, value] of values) this.makers.set(token, () => value);
    this.read(root, replaced);
  }

  get<T>(token: InjectionToken): T {
    if (!this.made.has(token)) {
      const make = this.makers.get(token);
      if (!make) throw new Error(`Nothing provides ${String(token)}.`);
      this.made.set(token, make());
    }
    return this.made.get(token) as T;
  }

  /** Creates everything that the module provides. */
  all(): readonly unknown[] {
    return [...this.makers.keys()].map((token) => this.get(token));
  }

  handlers(): readonly PatternHandler[] {
    return this.controllers.flatMap((controller) => {
      const instance = this.get<Record<string, (...args: unknown[]) => unknown>>(controller);
      return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
        const method: unknown = (controller.prototype as Record<string, unknown>)[name];
        const patterns = typeof method === 'function' ? (metadata(patternOf, method) as string[] | undefined) : undefined;
        return (patterns ?? []).map((pattern) => ({
          pattern,
          handle: (payload: unknown, context: unknown) => instance[name]!(payload, context),
        }));
      });
    });
  }

  private read(module: DynamicModule, replaced: ReadonlyMap<InjectionToken, unknown>): void {
    for (const imported of module.imports ?? []) this.read(imported as DynamicModule, replaced);
    for (const provider of module.providers ?? []) this.provide(provider, replaced);
    for (const controller of module.controllers ?? []) {
      this.provide(controller, replaced);
      this.controllers.push(controller as Type);
    }
  }

  private provide(provider: Provider, replaced: ReadonlyMap<InjectionToken, unknown>): void {
    if (typeof provider === 'function') {
      const made = (replaced.get(provider) ?? provider) as Type;
      this.makers.set(provider, () => this.construct(made));
    } else if ('useValue' in provider) this.makers.set(provider.provide, () => provider.useValue as unknown);
    else if ('useFactory' in provider)
      this.makers.set(provider.provide, () =>
        (provider.useFactory as (...args: unknown[]) => unknown)(...(provider.inject ?? []).map((token) => this.get(token))),
      );
    else throw new Error('The simulation supports only classes, values and factories as providers.');
  }

  private construct(type: Type): unknown {
    const parameters = (metadata(injectedParameters, type) as { index: number; param: InjectionToken }[] | undefined) ?? [];
    const given: unknown[] = [];
    for (const { index, param } of parameters) given[index] = this.get(param);
    return new type(...given);
  }
}

/** Calls a lifecycle method on every object that has it, one after the other. */
export async function callHook(
  objects: readonly unknown[],
  hook: 'onModuleInit' | 'onApplicationBootstrap' | 'onApplicationShutdown',
): Promise<void> {
  for (const object of objects) {
    const method: unknown = (object as Record<string, unknown> | null)?.[hook];
    if (typeof method === 'function') await (method as () => unknown).call(object);
  }
}
