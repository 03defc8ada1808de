import { Inject, Injectable } from '@nestjs/common';
import { Failure, promptSetting, type PromptItem, type PromptView } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import { promptFaults, shippedPrompts, type ShippedPrompt } from '@conclave/strategies';
import { SettingChanges } from '../settings/setting-changes.js';
import { textOf } from './stored-prompt.js';

/** Prompts as an operator sees and changes them. */
@Injectable()
export class Prompts {
  constructor(
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings'>,
    @Inject(SettingChanges) private readonly changes: SettingChanges,
  ) {}

  async list(): Promise<readonly PromptItem[]> {
    return Promise.all(shippedPrompts.map(async (shipped) => itemOf(shipped, await this.state.settings.read(promptSetting(shipped.name)))));
  }

  /** Throws PROMPT_NOT_FOUND. */
  async view(name: string): Promise<PromptView> {
    const shipped = shippedOf(name);
    const { settings } = this.state;
    const setting = promptSetting(name);
    const [stored, kept] = [await settings.read(setting), await settings.versions(setting)];
    const versions = await Promise.all(
      kept.map(async ({ version, at }) => ({
        version,
        at,
        shipped: textOf((await settings.readVersion(setting, version))?.value) === null,
      })),
    );
    return {
      ...itemOf(shipped, stored),
      shipped: shipped.text,
      text: textOf(stored?.value),
      placeholders: [...shipped.placeholders],
      needed: [...shipped.needed],
      versions,
    };
  }

  /** Throws PROMPT_NOT_FOUND, PROMPT_INVALID, SETTING_CHANGED. */
  async change(name: string, text: string, actor: string, expected: number | null): Promise<PromptView> {
    shippedOf(name);
    assertUsable(name, text);
    await this.changes.write({ name: promptSetting(name), actor, value: { text }, expected });
    return this.view(name);
  }

  /**
   * Restores a kept version, the shipped text (0) or, with null, the text before the last change. Throws PROMPT_NOT_FOUND,
   * PROMPT_INVALID (the product has changed what the prompt needs), SETTING_VERSION_NOT_FOUND, SETTING_CHANGED.
   */
  async rollBack(name: string, version: number | null, actor: string): Promise<PromptView> {
    shippedOf(name);
    const setting = promptSetting(name);
    const present = (await this.state.settings.read(setting))?.version ?? 0;
    const wanted = version ?? Math.max(0, present - 1);
    const text = wanted === 0 ? null : await this.textAt(setting, wanted);
    if (text !== null) assertUsable(name, text);
    // A prompt that was never changed is already the shipped text.
    if (present > 0) await this.changes.write({ name: setting, actor, value: { text }, expected: present });
    return this.view(name);
  }

  private async textAt(setting: string, version: number): Promise<string | null> {
    const kept = await this.state.settings.readVersion(setting, version);
    if (!kept) throw new Failure('SETTING_VERSION_NOT_FOUND', `The requested version is ${version}.`);
    return textOf(kept.value);
  }
}

function shippedOf(name: string): ShippedPrompt {
  const shipped = shippedPrompts.find((prompt) => prompt.name === name);
  if (!shipped) throw new Failure('PROMPT_NOT_FOUND');
  return shipped;
}

function assertUsable(name: string, text: string): void {
  const faults = promptFaults(name, text);
  if (faults.length > 0) throw new Failure('PROMPT_INVALID', faults.join(' '), { param: 'text' });
}

const itemOf = ({ name, version }: ShippedPrompt, stored: { readonly version: number; readonly value: unknown } | null): PromptItem => ({
  object: 'prompt',
  name,
  shippedVersion: version,
  overridden: textOf(stored?.value) !== null,
  version: stored?.version ?? 0,
});
