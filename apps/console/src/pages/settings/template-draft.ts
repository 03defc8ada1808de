import type { TemplateView } from '@conclave/contracts';
import type { Values } from './schema-fields.js';
import { yamlText } from './yaml-text.js';

/** The differences from the file: options of the strategy, and other settings. */
export interface TemplateDraft {
  readonly options: Values;
  readonly settings: Values;
}

export const draftOf = ({ changed, settings }: Pick<TemplateView, 'changed' | 'settings'>): TemplateDraft => ({
  options: changed ?? {},
  settings,
});

/** The same as YAML, as it would appear below the name of the template in conclave.yaml. */
export const draftText = ({ options, settings }: TemplateDraft): string =>
  yamlText({ ...settings, ...(Object.keys(options).length > 0 ? { options } : {}) });
