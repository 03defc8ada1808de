import { ApiError } from '../api/client.js';
import { Icon } from './icons.js';

/** The error in the words of the gateway, with its code. */
export function ErrorNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  return (
    <div className="note bad" role="alert">
      <Icon name="warning" />
      <div>
        <p>{error instanceof Error ? error.message : String(error)}</p>
        {error instanceof ApiError && (
          <p className="quiet">
            <code>{error.code}</code>
            {error.param !== null && (
              <>
                {' '}
                at <code>{error.param}</code>
              </>
            )}
          </p>
        )}
      </div>
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
