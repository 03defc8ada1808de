import type { ModelObject } from '@conclave/contracts';
import { type KeyboardEvent, useState } from 'react';
import { Icon } from '../../components/icons.js';
import type { ChatMode } from './thread.js';

interface ComposerProps {
  readonly mode: ChatMode;
  readonly onMode: (mode: ChatMode) => void;
  readonly templates: readonly ModelObject[];
  /** Id of the template that was chosen before. */
  readonly chosen: string | undefined;
  readonly onChoose: (template: string) => void;
  readonly busy: boolean;
  /** More compact, below a conversation. */
  readonly compact: boolean;
  /** Resolves to whether it was accepted; a refused question stays in the field. */
  readonly onAsk: (model: string, question: string) => Promise<boolean>;
}

const words: Readonly<Record<ChatMode, { readonly label: string; readonly field: string; readonly button: string }>> = {
  chat: { label: 'Chat', field: 'Your question', button: 'Ask' },
  reasoning: { label: 'Reasoning', field: 'The goal', button: 'Start' },
};

/** The field for a question or a goal, and the choice of the template. */
export function Composer({ mode, onMode, templates, chosen, onChoose, busy, compact, onAsk }: ComposerProps) {
  const [text, setText] = useState('');
  const usual = templates.find(({ id }) => id === 'conclave') ?? templates[0];
  const model = templates.find(({ id }) => id === chosen) ?? usual;
  const { field, button } = words[mode];
  const send = (): void => {
    if (!model || text.trim() === '' || busy) return;
    void onAsk(model.id, text.trim()).then((isAccepted) => {
      if (isAccepted) setText((now) => (now === text ? '' : now));
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="composer panel"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="composer-head">
        <fieldset className="choice bare">
          <legend>What is asked</legend>
          {(Object.keys(words) as ChatMode[]).map((one) => (
            <label key={one}>
              <input type="radio" name="mode" value={one} checked={one === mode} onChange={() => onMode(one)} />
              <span>{words[one].label}</span>
            </label>
          ))}
        </fieldset>
        {templates.length > 0 && (
          <label className="composer-template">
            <span className="quiet">Template</span>
            <select value={model?.id ?? ''} onChange={(event) => onChoose(event.target.value)}>
              {templates.map(({ id }) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {templates.length === 0 ? (
        <p className="quiet">
          {mode === 'reasoning' ? (
            <>
              No template that works towards a goal is offered. The demo model cannot play one: connect a model first. To add one of your
              own, write in conclave.yaml: <code>{'templates: { goal: { strategy: reasoning } }'}</code>
            </>
          ) : (
            'No template is offered now. Start a model server, or add a provider.'
          )}
        </p>
      ) : (
        <>
          {!compact && model?.description && <p className="quiet">{model.description}</p>}
          <div className="composer-field">
            <label className="visually-hidden" htmlFor="question">
              {field}
            </label>
            <textarea
              id="question"
              dir="auto"
              rows={compact ? 1 : 2}
              placeholder={field}
              value={text}
              onChange={(event) => setText(event.target.value)}
              onKeyDown={onKeyDown}
            />
            <button type="submit" className="button primary" disabled={busy || text.trim() === ''}>
              <Icon name="send" /> {button}
            </button>
          </div>
        </>
      )}
    </form>
  );
}
