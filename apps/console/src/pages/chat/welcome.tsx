import type { ModelObject } from '@conclave/contracts';
import { CopyButton } from '../../components/copy-button.js';

/** For clients other than this page: the address, the model names, and one line to try. */
export function Welcome({ templates }: { readonly templates: readonly ModelObject[] }) {
  const address = `${location.origin}/v1`;
  const model = templates.find(({ id }) => id === 'conclave')?.id ?? templates[0]?.id ?? 'conclave';
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  const line = `curl ${address}/chat/completions -H 'content-type: application/json' -d '${body}'`;
  return (
    <details className="welcome">
      <summary>Use it from another program</summary>
      <div className="stack">
        <p>
          Base URL for clients of OpenAI: <code>{address}</code>. Models:{' '}
          {templates.map(({ id }, n) => (
            <span key={id}>
              {n > 0 && ', '}
              <code>{id}</code>
            </span>
          ))}
          ; <code>GET /v1/models</code> lists all. <code>/openapi.json</code> describes the API.
        </p>
        <CopiedLine text={line} />
      </div>
    </details>
  );
}

function CopiedLine({ text }: { readonly text: string }) {
  return (
    <div className="copied-line">
      <pre tabIndex={0} role="region" aria-label="Command">
        <code>{text}</code>
      </pre>
      <CopyButton what="the command" text={() => text} />
    </div>
  );
}
