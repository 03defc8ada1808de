import { promptSetting, ToolOffer, toolOffersSetting } from '@conclave/contracts';
import type { Logger, TemplateInput } from '@conclave/platform';
import type { StateStore } from '@conclave/ports';
import { promptFaults, shippedPrompts } from '@conclave/strategies';
import { z } from 'zod';
import { textOf } from './stored-prompt.js';

type Offers = TemplateInput['offers'];

const StoredTools = z.object({ tools: z.array(ToolOffer) });

/**
 * Reads what the settings offer to templates: prompts of the operator, and tools that a process with tool servers has found. A text
 * that this version of the product cannot use is left out, with a warning each time it changes. The reader throws STORE_*.
 */
export function settingOffers({ settings }: Pick<StateStore, 'settings'>, logger: Pick<Logger, 'warn'>): () => Promise<Offers> {
  /** Setting -> its version and the text that may be used, so that an unchanged prompt is read once. */
  const known = new Map<string, { readonly version: number; readonly text: string | null }>();
  const names = new Map(shippedPrompts.map(({ name }) => [promptSetting(name), name]));
  return async () => {
    const prompts: Record<string, string> = {};
    for (const { name: setting, version } of await settings.list(promptSetting(''))) {
      const name = names.get(setting);
      if (name === undefined) continue;
      if (known.get(setting)?.version !== version)
        known.set(setting, { version, text: usable(name, (await settings.read(setting))?.value) });
      const { text } = known.get(setting)!;
      if (text !== null) prompts[name] = text;
    }
    const tools = StoredTools.safeParse((await settings.read(toolOffersSetting))?.value);
    return { tools: tools.success ? tools.data.tools : [], collections: [], tenantCollections: true, prompts };
  };

  function usable(name: string, value: unknown): string | null {
    const text = textOf(value);
    const faults = text === null ? [] : promptFaults(name, text);
    if (faults.length > 0) logger.warn('The text of a prompt cannot be used: the shipped one is.', { prompt: name, faults });
    return faults.length > 0 ? null : text;
  }
}
