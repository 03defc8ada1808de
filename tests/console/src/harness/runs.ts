import type { RunView } from '@conclave/contracts';
import { recordOf, shows } from './asking.js';

/** Starts a run over the API. */
export async function startRun(url: string, question: string, model = 'conclave'): Promise<string> {
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: question }),
  });
  if (response.status !== 202) throw new Error(`The run was not started: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { readonly id: string }).id;
}

export const runEnds = (url: string, runId: string): Promise<RunView> =>
  shows(
    `the end of ${runId}`,
    () => recordOf(url, runId),
    ({ terminal }) => terminal,
    60_000,
  );
