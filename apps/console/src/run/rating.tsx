import { useState } from 'react';
import { api } from '../api/client.js';
import { ErrorNote } from '../components/error-note.js';

/** A rating from 1 to 5, with a correction of the answer. The gateway accepts one rating per run. */
export function Rating({ runId }: { readonly runId: string }) {
  const [rating, setRating] = useState<number | null>(null);
  const [state, setState] = useState<'open' | 'sent' | { readonly error: unknown }>('open');
  if (state === 'sent') return <p role="status">Rated {rating} of 5. Thank you.</p>;
  const submit = async (form: FormData): Promise<void> => {
    const correction = String(form.get('correction') ?? '').trim();
    await api.post('/v1/feedback', { response_id: runId, rating, ...(correction ? { correction } : {}) }).then(
      () => setState('sent'),
      (error: unknown) => setState({ error }),
    );
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(new FormData(event.currentTarget));
      }}
    >
      <fieldset className="choice bare rating">
        <legend>Rate the answer from 1 (bad) to 5 (good)</legend>
        <p className="quiet rating-words" aria-hidden="true">
          Rate this answer
        </p>
        {[1, 2, 3, 4, 5].map((value) => (
          <label key={value}>
            <input type="radio" name="rating" value={value} checked={rating === value} onChange={() => setRating(value)} />
            <span>{value}</span>
          </label>
        ))}
      </fieldset>
      {rating !== null && (
        <>
          <label className="field">
            <span>What should it have said? (optional)</span>
            <textarea name="correction" rows={2} maxLength={4_000} />
          </label>
          <div>
            <button type="submit" className="button primary">
              Send the rating
            </button>
          </div>
        </>
      )}
      {typeof state === 'object' && <ErrorNote error={state.error} />}
    </form>
  );
}
