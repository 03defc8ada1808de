import type { TemplateView } from '@conclave/contracts';
import { ModelFields } from './model-fields.js';
import { fieldsOf, SchemaFields, type Values, withValue } from './schema-fields.js';
import type { TemplateDraft } from './template-draft.js';

/** Settings that only strategies with a committee use. */
const ofCommittee = ['max_agentic_rounds', 'refine_rounds', 'thinking'];
const committees = ['agentic', 'adaptive'];

interface FormProps {
  readonly view: TemplateView;
  readonly draft: TemplateDraft;
  readonly onChange: (draft: TemplateDraft) => void;
}

/** A template as a form: options of its strategy, rounds and limits, models. Empty means as in the file. */
export function TemplateForm({ view, draft, onChange }: FormProps) {
  const { options, settings } = draft;
  const now = (view.resolved ?? {}) as Values;
  const ofStrategy = fieldsOf(view.schema);
  const hidden = ofStrategy.filter(({ kind }) => kind === 'other').map(({ name }) => name);
  const idle = view.strategy === 'single-pass' ? ['max_agentic_rounds'] : committees.includes(view.strategy) ? [] : ofCommittee;
  const general = fieldsOf(view.settingsSchema).filter(({ name }) => !idle.includes(name));
  const limits = ((view.settingsSchema['properties'] as Values | undefined)?.['limits'] ?? {}) as Values;
  const set = (values: Values): void => onChange({ options, settings: values });
  const setLimits = (values: Values): void => set(withValue(settings, 'limits', Object.keys(values).length > 0 ? values : undefined));
  return (
    <>
      <fieldset className="settings-part">
        <legend>Rounds and limits of one run</legend>
        <SchemaFields fields={general} values={settings} now={now} onChange={set} />
        <SchemaFields
          fields={fieldsOf(limits)}
          values={(settings['limits'] ?? {}) as Values}
          now={(now['limits'] ?? {}) as Values}
          onChange={setLimits}
        />
      </fieldset>
      <fieldset className="settings-part">
        <legend>Models</legend>
        <ModelFields view={view} settings={settings} onChange={set} />
      </fieldset>
      <fieldset className="settings-part">
        <legend>Options of the strategy {view.strategy}</legend>
        {ofStrategy.length === 0 && <p className="quiet">It has none that can be changed while the system runs.</p>}
        <SchemaFields
          fields={ofStrategy}
          values={options}
          now={view.options ?? {}}
          onChange={(values) => onChange({ options: values, settings })}
        />
        {hidden.length > 0 && <p className="quiet">As YAML only: {hidden.join(', ')}.</p>}
      </fieldset>
    </>
  );
}
