import { Inject, Injectable } from '@nestjs/common';
import { type DeliveryTarget, Failure, nearest, type Template } from '@conclave/contracts';
import { knownStrategy } from '@conclave/strategies';
import type { RequestOptions } from '../chat/chat-request.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';

/** Who is notified of the end of a run. This is decided when the run is accepted, so later changes of the template do not affect it. */
@Injectable()
export class DeliveryTargets {
  constructor(@Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'webhooks'>) {}

  /**
   * The webhook that the request names, otherwise those of the template that the tenant may use. Throws WEBHOOK_UNKNOWN, WEBHOOK_REFUSED for a
   * webhook that the request names.
   */
  of(wish: RequestOptions['webhook'], template: Template, tenant: string): readonly DeliveryTarget[] {
    if (typeof wish === 'string') {
      if (!this.isUsable(wish, tenant)) throw unknown(wish, this.usableBy(tenant));
      return [{ webhook: wish }];
    }
    if (wish) {
      const { sender } = this.options.webhooks ?? {};
      if (!sender) throw new Failure('WEBHOOK_REFUSED', 'The operator allows no addresses of clients.', { param: 'webhook.url' });
      try {
        sender.check(wish.url);
      } catch (error) {
        throw error instanceof Failure ? new Failure(error.code, error.detail, { param: 'webhook.url', cause: error }) : error;
      }
      return [{ url: wish.url }];
    }
    const names = knownStrategy(template.strategy)?.delivers?.(template.options ?? {}) ?? [];
    return [...new Set(names)].filter((name) => this.isUsable(name, tenant)).map((webhook) => ({ webhook }));
  }

  /** Throws WEBHOOK_UNKNOWN for the first name that is not a webhook. */
  check(names: readonly string[]): void {
    const known = Object.keys(this.options.webhooks?.tenants ?? {});
    const missing = names.find((name) => !known.includes(name));
    if (missing !== undefined) throw unknown(missing, known, 'options.default_delivery');
  }

  private isUsable(name: string, tenant: string): boolean {
    return this.usableBy(tenant).includes(name);
  }

  private usableBy(tenant: string): readonly string[] {
    return Object.entries(this.options.webhooks?.tenants ?? {}).flatMap(([name, of]) => (of === null || of.includes(tenant) ? [name] : []));
  }
}

function unknown(name: string, usable: readonly string[], param = 'webhook'): Failure {
  const near = nearest(name, usable);
  const detail = `There is no \`${name.slice(0, 64)}\` for this key.${near ? ` Did you mean \`${near}\`?` : ''}`;
  return new Failure('WEBHOOK_UNKNOWN', detail, { param });
}
