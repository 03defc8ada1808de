import type { Page } from 'playwright-core';
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

/** Answers a page's request for the stream of its only run with these events instead of the gateway's. */
export const playsEvents = (page: Page, eventsOf: (runId: string) => readonly object[]): Promise<unknown> =>
  page.route('**/v1/events?runs=*', (route) => {
    const runId = new URL(route.request().url()).searchParams.get('runs')!.split(':')[0]!;
    const body = eventsOf(runId)
      .map((entry) => ({ runId, ...entry }) as { kind?: string })
      .map((entry) => `event: ${entry.kind}\ndata: ${JSON.stringify(entry)}\n\n`)
      .join('');
    return route.fulfill({ contentType: 'text/event-stream', body });
  });
