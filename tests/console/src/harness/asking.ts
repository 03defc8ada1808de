import type { Page } from 'playwright-core';
import type { RunView } from '@conclave/contracts';

export interface Asked {
  readonly template?: string;
  readonly reasoning?: boolean;
}

/** Writes a question on the chat page and sends it as a reader would; returns the id of its run. */
export async function askInPage(page: Page, question: string, { template = 'conclave', reasoning = false }: Asked = {}): Promise<string> {
  await page.getByRole('radio', { name: reasoning ? 'Reasoning' : 'Chat' }).check();
  await page.getByLabel('Template').selectOption(template);
  await page.getByLabel(reasoning ? 'The goal' : 'Your question').fill(question);
  const accepted = page.waitForResponse((response) => response.url().endsWith('/v1/runs') && response.request().method() === 'POST');
  await page.getByRole('button', { name: reasoning ? 'Start' : 'Ask', exact: true }).click();
  return ((await (await accepted).json()) as { readonly id: string }).id;
}

/** Names and states of the plan's nodes as they are drawn: `r1 open`. */
export const drawnPlan = (page: Page): Promise<readonly string[]> =>
  page
    .locator('.plan-node[data-task]')
    .evaluateAll((nodes) => nodes.map((node) => `${node.getAttribute('data-task')} ${node.getAttribute('data-state')}`).sort());

/** Waits until a condition on the page is true; the error contains the last value. */
export async function shows<T>(what: string, read: () => Promise<T>, isSo: (value: T) => boolean, timeoutMs = 20_000): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    if (Date.now() > until) throw new Error(`The page does not show ${what}; it shows ${JSON.stringify(value)}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The plan as it is drawn, once it matches. */
export const planIs = (page: Page, ...wanted: readonly string[]): Promise<unknown> =>
  shows(
    `the plan ${wanted.join(', ')}`,
    () => drawnPlan(page),
    (drawn) => drawn.join() === [...wanted].sort().join(),
  );

export const recordOf = async (url: string, runId: string): Promise<RunView> =>
  (await (await fetch(`${url}/v1/runs/${runId}`)).json()) as RunView;
