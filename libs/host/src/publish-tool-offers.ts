import { isDeepStrictEqual } from 'node:util';
import { StoredToolOffers, toolOffersSetting, type Configuration, type ToolOffer } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import type { StateStore, ToolServers, ToolServerStatus } from '@conclave/ports';

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
  /** Settles once the servers have been asked for the first time, whatever the result. Never rejects. */
  readonly asked: Promise<void>;
  /** Waits for a request in progress. */
  close(): Promise<void>;
}

/**
 * Maintains the setting in which gateways find the tools of this process's servers: once now, in the background, then every minute, and
 * more often while a server is unavailable. Writes the setting when it changes. If no server is configured, starts nothing and empties the
 * setting.
 *
 * A server that is still starting keeps the tools that are stored for it. Otherwise templates would differ for some seconds after each
 * start on a busy machine, and cached answers would not be found. A server that has failed offers none.
 */
export function publishToolOffers({ configuration, ports, logger, everyMs: every = everyMs }: OfferParts): PublishedOffers {
  const { state, tools } = ports;
  const configured = Object.keys(configuration.mcp).length > 0 ? (tools ?? null) : null;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let looksInVain = 0;
  let silent: readonly string[] = [];
  const look = async (): Promise<void> => {
    try {
      const offers = configured ? await configured.offers() : [];
      silent = (configured?.status() ?? []).filter((server) => hasNotSaid(server, offers)).map(({ name }) => name);
      if (!closed && (await written(state.settings, offers, silent)))
        logger.info('The list of offered tools has changed.', { tools: offers.length });
    } catch (error) {
      logger.warn('The list of offered tools could not be published; it is retried.', { error });
    }
    if (closed || !configured) return;
    const away = silent.length > 0 || configured.status().some(({ ok }) => !ok);
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

/** Whether a server has neither listed its tools nor failed: it is still starting, or became ready after the list was made. */
const hasNotSaid = ({ name, ok, error, tools }: ToolServerStatus, offers: readonly ToolOffer[]): boolean =>
  error === null && (!ok || tools > 0) && !offers.some(isOf(name));

const isOf =
  (server: string) =>
  ({ name }: { readonly name: string }): boolean =>
    name.startsWith(`${server}.`);

/**
 * Writes the setting if it has changed, and returns whether it did. Tools of the `silent` servers stay as they are. Losing a race against
 * another process is harmless, because its servers are the same.
 */
async function written(settings: StateStore['settings'], offers: readonly ToolOffer[], silent: readonly string[]): Promise<boolean> {
  const present = await settings.read(toolOffersSetting);
  const before = StoredToolOffers.safeParse(present?.value).data?.tools ?? [];
  const tools = [...offers, ...before.filter((tool) => silent.some((server) => isOf(server)(tool)))]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description, signature, repeatable, readOnly }) => ({
      ...{ name, description, signature },
      ...(repeatable === undefined ? {} : { repeatable }),
      ...(readOnly === undefined ? {} : { readOnly }),
    }));
  if (!present && tools.length === 0) return false;
  if (present && isDeepStrictEqual(present.value, { tools })) return false;
  return settings.write(toolOffersSetting, present?.version ?? 0, { tools });
}
