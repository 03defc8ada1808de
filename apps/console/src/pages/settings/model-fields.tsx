import type { TemplateView } from '@conclave/contracts';
import { type Values, withValue } from './schema-fields.js';

interface Role {
  readonly model?: string;
  readonly models?: readonly string[];
}
interface Tiers {
  readonly t1?: readonly string[];
  readonly t2?: readonly string[];
}

const roles = [
  ['planner', 'Planner', 'splits the question'],
  ['judge', 'Judge', 'checks for gaps and writes the answer'],
] as const;
const tiers = [
  ['t1', 'asked first'],
  ['t2', 'asked when the first answer is unsure'],
] as const;

interface FieldsProps {
  readonly view: TemplateView;
  readonly settings: Values;
  readonly onChange: (settings: Values) => void;
}

/** The models of planner, judge and experts, each selected from the existing ones. */
export function ModelFields({ view, settings, onChange }: FieldsProps) {
  const now = (view.resolved ?? {}) as { readonly experts?: Readonly<Record<string, Tiers>> } & Readonly<Record<string, Role | undefined>>;
  const experts = (settings['experts'] ?? {}) as Readonly<Record<string, Tiers>>;
  const setTier = (category: string, tier: 't1' | 't2', models: readonly string[] | undefined): void => {
    const expert = withValue((experts[category] ?? {}) as Values, tier, models);
    const others = withValue(experts as Values, category, Object.keys(expert).length > 0 ? expert : undefined);
    onChange(withValue(settings, 'experts', Object.keys(others).length > 0 ? others : undefined));
  };
  return (
    <>
      <div className="settings-form">
        {roles.map(([role, title, doc]) => {
          const { model, models } = (settings[role] ?? {}) as Role;
          return (
            <label key={role} className="field">
              <span>{title}</span>
              <ModelChoice
                offered={view.models}
                value={model === undefined ? models : [model]}
                now={now[role]?.models}
                onChange={(chosen) => onChange(withValue(settings, role, chosen && { models: chosen }))}
              />
              <span className="quiet settings-doc">{doc}</span>
            </label>
          );
        })}
      </div>
      {now.experts && (
        <details>
          <summary>Experts ({Object.keys(now.experts).length} categories)</summary>
          <p className="quiet">A category without models of its own is asked with those of general.</p>
          <div className="table-box" tabIndex={0} role="region" aria-label="Models of the experts">
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Category</th>
                  {tiers.map(([tier, title]) => (
                    <th key={tier} scope="col">
                      {title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {Object.entries(now.experts).map(([category, expert]) => (
                  <tr key={category}>
                    <th scope="row">{category}</th>
                    {tiers.map(([tier, title]) => (
                      <td key={tier}>
                        <ModelChoice
                          label={`${category}, ${title}`}
                          offered={view.models}
                          value={experts[category]?.[tier]}
                          now={expert[tier]}
                          onChange={(chosen) => setTier(category, tier, chosen)}
                        />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      <p className="quiet">
        Several models for one role, and models that always answer (<code>always</code>), are written as YAML.
      </p>
    </>
  );
}

interface ChoiceProps {
  readonly label?: string;
  readonly offered: readonly string[];
  readonly value: readonly string[] | undefined;
  readonly now: readonly string[] | undefined;
  readonly onChange: (models: readonly string[] | undefined) => void;
}

function ModelChoice({ label, offered, value, now = [], onChange }: ChoiceProps) {
  const chosen = value?.join(', ') ?? '';
  const isListed = chosen === '' || offered.includes(chosen);
  return (
    <select
      aria-label={label}
      value={chosen}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value === chosen ? value : [target.value])}
    >
      <option value="">as in the file{value === undefined ? ` (${now.join(', ') || 'none'})` : ''}</option>
      {!isListed && <option value={chosen}>{chosen}</option>}
      {offered.map((ref) => (
        <option key={ref}>{ref}</option>
      ))}
    </select>
  );
}
