import { useId } from 'react';

/** A setting as described by its JSON Schema, as far as a form can show it. */
interface Field {
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
  readonly anyOf?: readonly PropertySchema[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}
export type Values = Readonly<Record<string, unknown>>;

/** Fields of an object's schema; `kind` is `other` for those that are edited as YAML. */
export function fieldsOf(schema: Values): readonly Field[] {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, PropertySchema>>;
  return Object.entries(properties).map(([name, property]) => {
    // A number that may also be null is edited as a number.
    const plain = property.anyOf?.length === 2 ? (property.anyOf.find(({ type }) => type !== 'null') ?? property) : property;
    const { type, enum: words, minimum, maximum } = plain;
    const kind = words ? 'choice' : type === 'integer' || type === 'number' ? 'number' : type === 'boolean' ? 'boolean' : 'other';
    return { name, doc: property.description ?? '', kind, choices: (words ?? []).map(String), minimum, maximum };
  });
}

/** The values with one of them replaced; undefined removes it. */
export function withValue(values: Values, name: string, value: unknown): Values {
  const { [name]: _, ...others } = values;
  return value === undefined ? others : { ...others, [name]: value };
}

interface FieldsProps {
  readonly fields: readonly Field[];
  readonly values: Values;
  /** Values that runs use now, shown for unchanged settings. */
  readonly now: Values;
  readonly onChange: (values: Values) => void;
}

/** One field for each simple setting; empty means as in the file. */
export function SchemaFields({ fields, values, now, onChange }: FieldsProps) {
  const id = useId();
  return (
    <div className="settings-form">
      {fields
        .filter(({ kind }) => kind !== 'other')
        .map((field) => (
          <label key={field.name} className="field">
            <span>{field.name}</span>
            <Input
              field={field}
              docId={id + field.name}
              value={values[field.name]}
              now={now[field.name]}
              onChange={(value) => onChange(withValue(values, field.name, value))}
            />
            <span id={id + field.name} className="quiet settings-doc">
              {field.doc}
            </span>
          </label>
        ))}
    </div>
  );
}

interface InputProps {
  readonly field: Field;
  /** Associates an element with its description, which is read out after its name instead of as a part of it. */
  readonly docId: string;
  readonly value: unknown;
  readonly now: unknown;
  readonly onChange: (value: unknown) => void;
}

function Input({ field: { name, kind, choices, minimum, maximum }, docId, value, now, onChange }: InputProps) {
  const text = value === undefined || value === null ? '' : String(value);
  const present = now === undefined || now === null ? 'none' : String(now);
  if (kind === 'number')
    return (
      <input
        type="number"
        aria-label={name}
        aria-describedby={docId}
        min={minimum}
        max={maximum}
        step="any"
        value={text}
        placeholder={present}
        onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
      />
    );
  return (
    <select
      aria-label={name}
      aria-describedby={docId}
      value={text}
      onChange={({ target }) => onChange(target.value === '' ? undefined : kind === 'boolean' ? target.value === 'true' : target.value)}
    >
      <option value="">as in the file{value === undefined && now !== undefined ? ` (${present})` : ''}</option>
      {(kind === 'boolean' ? ['true', 'false'] : choices).map((word) => (
        <option key={word}>{word}</option>
      ))}
    </select>
  );
}
