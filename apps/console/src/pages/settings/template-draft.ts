import type { TemplateView } from '@conclave/contracts';
import type { Values } from './schema-fields.js';
import { yamlText } from './yaml-text.js';

/** What is to differ from the file: options of the strategy, and the rest. */
export interface TemplateDraft {
  readonly options: Values;
  readonly settings: Values;
}

export const draftOf = ({ changed, settings }: Pick<TemplateView, 'changed' | 'settings'>): TemplateDraft => ({
  options: changed ?? {},
  settings,
});

/** As it would stand below the name of the template in conclave.yaml. */
export const draftText = ({ options, settings }: TemplateDraft): string =>
  yamlText({ ...settings, ...(Object.keys(options).length > 0 ? { options } : {}) });
