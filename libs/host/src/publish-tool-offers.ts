import { isDeepStrictEqual } from 'node:util';
import { toolOffersSetting, type Configuration, type ToolOffer } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import type { StateStore, ToolServers } from '@conclave/ports';

/** How often tool servers are asked what they offer. */
const everyMs = 60_000;
/** The first wait for a server that is away, such as one that is still starting; every further one doubles it. */
const soonMs = 1_000;

export interface OfferParts {
  readonly configuration: Pick<Configuration, 'mcp'>;
  readonly ports: { readonly tools?: ToolServers | null; readonly state: Pick<StateStore, 'settings'> };
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly everyMs?: number;
}

export interface PublishedOffers {
  /** Settles when servers were asked for the first time, whatever came of it. Never rejects. */
  readonly asked: Promise<void>;
  /** Waits for a look that is under way. */
  close(): Promise<void>;
}

/**
 * Keeps the setting in which gateways find the tools of this process's servers: once now, in the background, and then every minute.
 * While a server is away it is looked for more often. The setting is written when it changes. Where no server is configured nothing is started; what stood there is emptied.
 */
export function publishToolOffers({ configuration, ports, logger, everyMs: every = everyMs }: OfferParts): PublishedOffers {
  const { state, tools } = ports;
  const configured = Object.keys(configuration.mcp).length > 0 ? (tools ?? null) : null;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let looksInVain = 0;
  const look = async (): Promise<void> => {
    try {
      const offers = configured ? await configured.offers() : [];
      if (!closed && (await written(state.settings, offers)))
        logger.info('The tools that are offered have changed.', { tools: offers.length });
    } catch (error) {
      logger.warn('The tools that are offered could not be written down; that is tried again.', { error });
    }
    if (closed || !configured) return;
    const away = configured.status().some(({ ok }) => !ok);
    const wait = away ? Math.min(every, soonMs * 2 ** looksInVain) : every;
    looksInVain = away ? looksInVain + 1 : 0;
    timer = setTimeout(() => {
      looking = look();
    }, wait).unref();
  };
  const asked = look();
  let looking = asked;
  return {
    asked,
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

/** Whether it had to be written. Another process that was faster has the same servers: nothing is lost by leaving it at that. */
async function written(settings: StateStore['settings'], offers: readonly ToolOffer[]): Promise<boolean> {
  const tools = offers.map(({ name, description, signature }) => ({ name, description, signature }));
  const present = await settings.read(toolOffersSetting);
  if (!present && tools.length === 0) return false;
  if (present && isDeepStrictEqual(present.value, { tools })) return false;
  return settings.write(toolOffersSetting, present?.version ?? 0, { tools });
}
