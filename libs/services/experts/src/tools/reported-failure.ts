import type { ToolReply } from '@conclave/ports';

/** Longest result that is read as JSON here, in characters: a failure is short. */
const longest = 4_000;

/** Members that say more about a failure. A result with any other member is data, of which `error` is a part. */
const aboutFailures: ReadonlySet<string> = new Set(
  'code detail details hint httpstatus iserror message ok reason requestid retryable retryafter status statuscode success timestamp type'.split(
    ' ',
  ),
);

/** One line that is nothing but a failure. */
const failureLine = /^(?:\p{L}{1,20} ){0,2}error: \S.{0,400}$/iu;

/**
 * The failure that a result reports as its only content, as many tools do instead of marking the result as an error, such as
 * `{"ok": false, "error": "No such order."}`; null for any other result. `readOnly`: the tool changes nothing, so that a line such as
 * `Error: disk full` may be what it has read.
 */
export function reportedFailure(
  { structured, content }: Pick<ToolReply, 'structured' | 'content'>,
  readOnly: boolean | undefined = false,
): string | null {
  if (!readOnly && failureLine.test(content.trim())) return content.trim();
  const value = structured ?? objectIn(content);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { error, ...others } = value as Readonly<Record<string, unknown>>;
  const isFailure = typeof error === 'string' ? error.trim() !== '' : error === true || (typeof error === 'object' && error !== null);
  if (!isFailure || others['ok'] === true || others['success'] === true) return null;
  if (Object.entries(others).some(([name, member]) => member !== null && !aboutFailures.has(folded(name)))) return null;
  // The text alone says it best, unless more is known.
  return typeof error === 'string' && Object.values(others).every((member) => typeof member === 'boolean' || member === null)
    ? error.trim()
    : JSON.stringify(value);
}

const folded = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');

/** The object that a text is as a whole; null for any other text, and for a long one. */
export function objectIn(content: string): unknown {
  const text = content.trim();
  if (!text.startsWith('{') || text.length > longest) return null;
  try {
    return JSON.parse(text);
  } catch {
    // A text that only begins like an object.
    return null;
  }
}
