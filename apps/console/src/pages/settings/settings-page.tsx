import { useState } from 'react';
import { useSession } from '../../api/session.js';
import { Page } from '../../components/page.js';
import { Keys } from './keys.js';
import { Prompts } from './prompts.js';
import { Providers } from './providers.js';
import { Skills } from './skills.js';
import { Templates } from './templates.js';
import { Usage } from './usage.js';

const parts = {
  templates: { title: 'Templates', shown: Templates, operators: true },
  providers: { title: 'Providers', shown: Providers, operators: true },
  prompts: { title: 'Prompts', shown: Prompts, operators: true },
  keys: { title: 'Keys and budgets', shown: Keys, operators: false },
  usage: { title: 'Usage', shown: Usage, operators: false },
  skills: { title: 'Skills', shown: Skills, operators: true },
} as const;
type Part = keyof typeof parts;

/** Settings that people change while the system runs. Changes apply to new runs within two seconds, on every gateway. */
export default function SettingsPage() {
  const { tenant } = useSession();
  const shown = (Object.keys(parts) as Part[]).filter((name) => tenant === 'default' || !parts[name].operators);
  const [part, setPart] = useState<Part>(shown[0]!);
  const { shown: Shown } = parts[part];
  return (
    <Page title="Settings" lead="Changes apply to new runs within two seconds, on every gateway. The audit records who made them.">
      <fieldset className="choice bare">
        <legend>Part of the settings</legend>
        {shown.map((name) => (
          <label key={name}>
            <input type="radio" name="settings-part" checked={part === name} onChange={() => setPart(name)} />
            <span>{parts[name].title}</span>
          </label>
        ))}
      </fieldset>
      <Shown />
    </Page>
  );
}
