import { StoredToolOffers, toolOffersSetting, type Configuration } from '@conclave/contracts';
import type { HealthCheck, Logger } from '@conclave/platform';
import type { StateStore } from '@conclave/ports';

/** Milliseconds for which a gateway waits for tools that another process lists, such as workers that start at the same time. */
const usualPatienceMs = 10_000;

export interface AwaitedTools {
  readonly configuration: Pick<Configuration, 'mcp'>;
  readonly state: Pick<StateStore, 'settings'>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Reads the list of tools into the templates. */
  refresh(): Promise<void>;
  /** Settles once the servers have been asked, if this process asks them. */
  readonly asked?: Promise<void>;
  readonly patienceMs?: number;
}

/**
 * Red until the tools of all configured servers are known, so that the first question after it finds them. A server that lists none keeps
 * it red only until it was asked, or for `patienceMs`, and is then named in the log. Servers that come with the product are not waited for:
 * no template is made for them alone, and starting them would delay every start.
 */
export function awaitedTools({ configuration, state, logger, refresh, asked, patienceMs = usualPatienceMs }: AwaitedTools): HealthCheck {
  const names = Object.entries(configuration.mcp).flatMap(([name, { builtin }]) => (builtin === undefined ? [name] : []));
  const began = performance.now();
  let isOver = names.length === 0;
  let wereAsked = false;
  void asked?.then(() => (wereAsked = true));
  return async () => {
    if (isOver) return null;
    // Before the list is read: what is asked for while it is read may still be missing in it.
    const mayGoOn = wereAsked || performance.now() - began >= patienceMs;
    const { tools = [] } = StoredToolOffers.safeParse((await state.settings.read(toolOffersSetting))?.value).data ?? {};
    const absent = names.filter((server) => !tools.some(({ name }) => name.startsWith(`${server}.`)));
    if (absent.length > 0 && !mayGoOn) return `waits for the tools of ${absent.join(', ')}.`;
    await refresh();
    if (isOver) return null;
    isOver = true;
    if (absent.length > 0)
      logger.warn('Ready without the tools of some servers, which are offered as soon as they are listed.', { servers: absent });
    return null;
  };
}
