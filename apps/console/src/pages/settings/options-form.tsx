import type { TemplateView } from '@conclave/contracts';

interface Option {
  readonly name: string;
  readonly doc: string;
  readonly kind: 'number' | 'boolean' | 'choice' | 'other';
  readonly choices: readonly string[];
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
}
interface PropertySchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Options that a form can show; the others are edited as YAML. */
function optionsOf({ schema }: TemplateView): readonly Option[] {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, PropertySchema>>;
  return Object.entries(properties).map(([name, { type, enum: words, description = '', minimum, maximum }]) => {
    const kind = words ? 'choice' : type === 'integer' || type === 'number' ? 'number' : type === 'boolean' ? 'boolean' : 'other';
    return { name, doc: description, kind, choices: (words ?? []).map(String), minimum, maximum };
  });
}

/** Top-level values of our own YAML: one option per line, JSON behind it. Null where somebody wrote it otherwise. */
function read(text: string): Readonly<Record<string, unknown>> | null {
  const found: Record<string, unknown> = {};
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name, value] = /^([A-Za-z_][\w-]*): (.+)$/.exec(line) ?? [];
    if (name === undefined) return null;
    try {
      found[name] = JSON.parse(value!);
    } catch {
      return null;
    }
  }
  return found;
}

interface FormProps {
  readonly view: TemplateView;
  readonly text: string;
  readonly onChange: (options: Readonly<Record<string, unknown>>) => void;
}

/** One field for each simple option; empty means as in the file. */
export function OptionsForm({ view, text, onChange }: FormProps) {
  const options = optionsOf(view).filter(({ kind }) => kind !== 'other');
  const rest = optionsOf(view).filter(({ kind }) => kind === 'other');
  const values = read(text);
  if (values === null) return <p className="note">The text contains more than a form can show. Edit it as YAML.</p>;
  if (options.length + rest.length === 0)
    return <p className="quiet">The strategy {view.strategy} has no options that can be changed while the system runs.</p>;
  const set = (name: string, value: unknown): void => {
    const { [name]: _, ...others } = values;
    onChange(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <div className="settings-form">
      {options.map(({ name, doc, kind, choices, minimum, maximum }) => {
        const now = view.options?.[name];
        const value = values[name];
        return (
          <label key={name} className="field">
            <span>{name}</span>
            {kind === 'number' ? (
              <input
                type="number"
                min={minimum}
                max={maximum}
                step="any"
                value={value === undefined ? '' : String(value)}
                placeholder={now === undefined ? '' : String(now)}
                onChange={({ target }) => set(name, target.value === '' ? undefined : Number(target.value))}
              />
            ) : (
              <select
                value={value === undefined ? '' : String(value)}
                onChange={({ target }) =>
                  set(name, target.value === '' ? undefined : kind === 'boolean' ? target.value === 'true' : target.value)
                }
              >
                <option value="">as in the file{now === undefined ? '' : ` (${String(now)})`}</option>
                {(kind === 'boolean' ? ['true', 'false'] : choices).map((word) => (
                  <option key={word}>{word}</option>
                ))}
              </select>
            )}
            <span className="quiet settings-doc">{doc}</span>
          </label>
        );
      })}
      {rest.length > 0 && <p className="quiet">As YAML only: {rest.map(({ name }) => name).join(', ')}.</p>}
    </div>
  );
}
