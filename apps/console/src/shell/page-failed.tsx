import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorNote } from '../components/error-note.js';

/** Shown in place of a page that could not be loaded or drawn, for example after an update of the gateway. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  return (
    <section className="page">
      <h1>This page could not be shown</h1>
      <ErrorNote error={error} onRetry={reset} />
      <p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Load the console again
        </button>
      </p>
    </section>
  );
}
