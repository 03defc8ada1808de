import { ErrorNote } from '../components/error-note.js';

interface FailureNoteProps {
  readonly failure: { readonly message: string } | null;
  /** Why the run ended, which stands above. */
  readonly reason: string | null;
}

/** The failure that ended a run, unless the reason quotes it already. */
export function FailureNote({ failure, reason }: FailureNoteProps) {
  if (!failure || reason?.includes(failure.message.replace(/\.$/, ''))) return null;
  return <ErrorNote error={new Error(failure.message)} />;
}
