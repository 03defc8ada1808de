import { useState } from 'react';
import { Icon } from './icons.js';

interface CopyButtonProps {
  /** Completes "Copy" for those who do not see where the button is. */
  readonly what: string;
  readonly text: () => string;
}

/** Copies a text and says so. Absent where the browser offers no clipboard: over plain http from another machine. */
export function CopyButton({ what, text }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  if (!('clipboard' in navigator)) return null;
  const copy = (): Promise<void> =>
    navigator.clipboard.writeText(text()).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <button type="button" className="button" aria-label={`${copied ? 'Copied' : 'Copy'} ${what}`} onClick={() => void copy()}>
      <Icon name={copied ? 'check' : 'copy'} /> {copied ? 'Copied' : 'Copy'}
    </button>
  );
}
