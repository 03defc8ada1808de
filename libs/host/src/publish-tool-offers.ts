import { isDeepStrictEqual } from 'node:util';
import { toolOffersSetting, type Configuration, type ToolOffer } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import type { StateStore, ToolServers } from '@conclave/ports';

/** Interval at which tool servers are asked for their offers. */
const everyMs = 60_000;
/** The first wait for an unavailable server, such as one that is still starting; each further wait doubles. */
const soonMs = 1_000;

export interface OfferParts {
  readonly configuration: Pick<Configuration, 'mcp'>;
  readonly ports: { readonly tools?: ToolServers | null; readonly state: Pick<StateStore, 'settings'> };
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly everyMs?: number;
}

export interface PublishedOffers {
  /** Settles when servers were asked for the first time, whatever the result. Never rejects. */
  readonly asked: Promise<void>;
  /** Waits for a request in progress. */
  close(): Promise<void>;
}

/**
 * Maintains the setting in which gateways find the tools of this process's servers: once now, in the background, then every minute, and
 * more often while a server is unavailable. Writes the setting when it changes. If no server is configured, starts nothing and empties the
 * setting.
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
        logger.info('The list of offered tools has changed.', { tools: offers.length });
    } catch (error) {
      logger.warn('The list of offered tools could not be published; it is retried.', { error });
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

/** Returns whether it had to be written. If another process was faster, its servers are the same, so losing the race is harmless. */
async function written(settings: StateStore['settings'], offers: readonly ToolOffer[]): Promise<boolean> {
  const tools = offers.map(({ name, description, signature, repeatable, readOnly }) => ({
    ...{ name, description, signature },
    ...(repeatable === undefined ? {} : { repeatable }),
    ...(readOnly === undefined ? {} : { readOnly }),
  }));
  const present = await settings.read(toolOffersSetting);
  if (!present && tools.length === 0) return false;
  if (present && isDeepStrictEqual(present.value, { tools })) return false;
  return settings.write(toolOffersSetting, present?.version ?? 0, { tools });
}
