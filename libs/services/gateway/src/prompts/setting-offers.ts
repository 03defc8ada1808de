import { promptSetting, StoredTemplateOptions, StoredToolOffers, templateSetting, toolOffersSetting } from '@conclave/contracts';
import type { Logger, TemplateInput } from '@conclave/platform';
import type { StateStore } from '@conclave/ports';
import { knownStrategy, promptFaults, shippedPrompts } from '@conclave/strategies';
import { textOf } from './stored-prompt.js';

type Offers = TemplateInput['offers'];

/**
 * Returns a reader of what the settings add to templates: the operator's prompts, and tools found by a process with tool servers.
 * A text that this version of the product cannot use is skipped, with a warning each time it changes. The reader throws STORE_*.
 */
export function settingOffers({ settings }: Pick<StateStore, 'settings'>, logger: Pick<Logger, 'warn'>): () => Promise<Offers> {
  /** Prompt -> the version of its setting and the usable text, so that each fault is reported once. */
  const known = new Map<string, { readonly version: number; readonly text: string | null }>();
  return async () => {
    const read = await Promise.all(
      shippedPrompts.map(async ({ name }): Promise<readonly [string, string | null]> => {
        const stored = await settings.read(promptSetting(name));
        if (!stored) return [name, null];
        const seen = known.get(name);
        const text = seen?.version === stored.version ? seen.text : usable(name, stored.value);
        known.set(name, { version: stored.version, text });
        return [name, text];
      }),
    );
    const prompts = Object.fromEntries(read.filter((entry): entry is readonly [string, string] => entry[1] !== null));
    const options = await changedOptions();
    const tools = StoredToolOffers.safeParse((await settings.read(toolOffersSetting))?.value);
    return { tools: tools.success ? tools.data.tools : [], collections: [], tenantCollections: true, prompts, options };
  };

  async function changedOptions(): Promise<NonNullable<Offers['options']>> {
    const names = await settings.list(templateSetting(''));
    const stored = await Promise.all(
      names.map(async ({ name }) => [name, StoredTemplateOptions.safeParse((await settings.read(name))?.value)] as const),
    );
    return Object.fromEntries(
      stored.flatMap(([name, { data }]) => {
        // Options that this version of the strategy does not support would make every template unusable.
        const isUsable = data && knownStrategy(data.strategy)?.options.safeParse(data.options).success;
        return isUsable ? [[name.slice(templateSetting('').length), data]] : [];
      }),
    );
  }

  function usable(name: string, value: unknown): string | null {
    const text = textOf(value);
    const faults = text === null ? [] : promptFaults(name, text);
    if (faults.length > 0) logger.warn('The text of a prompt is invalid; the shipped one is used.', { prompt: name, faults });
    return faults.length > 0 ? null : text;
  }
}
