import { describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { byAdmin, CommitteeScript, type System, expert, runEnd, startRun } from '@conclave/test-support/system';

/** What people add and change while the system runs, through any gateway, and what is left of it when processes die. */
export function knowledgeScenarios(system: () => System): void {
  const script = (question: string): CommitteeScript =>
    new CommitteeScript(system().models, question)
      .plan([expert('x1', 'Say it.')])
      .expert('It is said.')
      .answer(['It is said.']);
  const send = async (n: number, method: string, path: string, body?: object) => {
    const response = await fetch(`${system().url(n)}/v1${path}`, {
      method,
      headers: { ...(path.startsWith('/admin/') ? byAdmin : {}), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const answered = async (n: number, question: string): Promise<string> => {
    const { body } = await startRun(system().url(n), { model: 'conclave-fast', input: question });
    expect(await runEnd(system().url(n), body.id)).toMatchObject({ outcome: 'completed' });
    return body.id;
  };
  const heard = (s: CommitteeScript): string =>
    s
      .calls('composer')
      .map(({ messages }) => JSON.stringify(messages))
      .join('\n');

  describe('input from people', () => {
    it('accepts one rating of an answer, whichever gateway receives it', async () => {
      const s = script('Is a rating kept? (rated)');
      const run = await answered(2, s.question);
      const rate = (n: number, rating: number) =>
        send(n, 'POST', '/feedback', { response_id: `chatcmpl-${run.slice('run_'.length)}`, rating });
      expect([(await rate(1, 2)).status, (await rate(2, 2)).status, (await rate(2, 5)).status]).toEqual([202, 202, 409]);
    });

    it('changes a prompt for the runs of every gateway within two seconds, and back again', async () => {
      const text = 'Write the answer as a sailor would, from the facts below.';
      expect(await send(1, 'PUT', '/admin/prompts/composer', { text })).toMatchObject({ status: 200, body: { overridden: true } });
      await new Promise((resolve) => setTimeout(resolve, 2_000)); // the time within which settings take effect
      const changed = script('Who speaks? (sailor)');
      await answered(2, changed.question);
      expect(heard(changed)).toContain('as a sailor would');
      expect(await send(2, 'POST', '/admin/prompts/composer/rollback', {})).toMatchObject({ status: 200, body: { text: null } });
      await new Promise((resolve) => setTimeout(resolve, 2_000)); // the same
      const back = script('Who speaks? (nobody)');
      await answered(1, back.question);
      expect(heard(back)).not.toContain('sailor');
    });

    it('reads a document even when its reader is killed on the way', async () => {
      const made = await send(2, 'POST', '/collections', { name: 'ships', description: 'Ships and harbours.' });
      // Without a vector store the reply is a 503 that names `stores.chroma`: then nothing is shown, and this fails.
      expect(made).toMatchObject({ status: 201 });
      const text = Array.from({ length: 12_000 }, (_, n) => `Ship ${n} lies in harbour ${n % 97} until the ice melts.`).join('\n');
      const { id } = (await send(1, 'POST', '/collections/ships/documents', { name: 'ships.txt', mime: 'text/plain', text })).body;
      const look = async () =>
        (await send(1, 'GET', `/collections/ships/documents/${String(id)}`)).body as {
          status: string;
          chunks: { done: number; total: number };
        };
      const before = await until('some of it', async () => ((found) => found.chunks.done > 0 && found)(await look()), {
        timeoutMs: 30_000,
      });
      expect(before.status).toBe('embedding');
      const process = system().process('graph-ingest');
      expect((await process.kill('SIGKILL')).signal).toBe('SIGKILL');
      await process.ready();
      expect((await look()).chunks.done).toBeGreaterThanOrEqual(before.chunks.done);
      const after = await until('all of it', async () => ((found) => found.status === 'ready' && found)(await look()), {
        timeoutMs: 120_000,
        everyMs: 100,
      });
      expect([after.chunks.done, after.chunks.total > 500]).toEqual([after.chunks.total, true]);
      expect((await send(1, 'GET', '/admin/dead-letters')).body).toMatchObject({
        data: expect.not.arrayContaining([expect.objectContaining({ type: 'KnowledgeProposed' })]),
      });
      expect((await send(1, 'DELETE', '/collections/ships')).status).toBe(200);
    });

    it('gives a document up whose readers are killed again and again, and reads it when its dead letter is re-driven', async () => {
      expect(await send(2, 'POST', '/collections', { name: 'wrecks', description: 'Wrecks.' })).toMatchObject({ status: 201 });
      const text = Array.from({ length: 40_000 }, (_, n) => `Wreck ${n} lies off harbour ${n % 97} below the ice.`).join('\n');
      const { id } = (await send(1, 'POST', '/collections/wrecks/documents', { name: 'wrecks.txt', mime: 'text/plain', text })).body;
      const look = async () =>
        (await send(1, 'GET', `/collections/wrecks/documents/${String(id)}`)).body as {
          status: string;
          problem: string | null;
          chunks: { done: number; total: number };
        };
      const process = system().process('graph-ingest');
      const moved = (before: number) =>
        until(
          'some more of it, or its end',
          async () => ((now) => (now.status === 'failed' || now.chunks.done > before) && now)(await look()),
          { timeoutMs: 90_000 },
        );
      let deaths = 0;
      let given = await moved(0);
      while (given.status !== 'failed') {
        expect(given.status).toBe('embedding');
        await process.kill('SIGKILL');
        await process.ready();
        deaths += 1;
        // What the killed process still read before it ended is not the work of the next one.
        given = await moved((await look()).chunks.done);
      }
      // Three if it was blamed for each: then it did more than wait for the embedder. The log does not count the first one if the record was new
      // to its reader.
      expect(deaths).toBeGreaterThanOrEqual(3);
      expect(deaths).toBeLessThanOrEqual(8);
      expect(given.problem).toContain('Processes died again and again while they were reading it.');
      const { data } = (await send(1, 'GET', '/admin/dead-letters')).body as { data: { id: string; runId: string; reason: string }[] };
      const letters = data.filter(({ runId }) => runId === id);
      expect(letters).toEqual([expect.objectContaining({ reason: 'killed_process', group: 'graph-ingest' })]);
      const redriven = await send(1, 'POST', `/admin/dead-letters/${letters[0]!.id}/redrive`, {});
      expect(redriven.body).toMatchObject({ effects: [expect.stringContaining('A re-drive reads it again')] });
      const read = await until('all of it', async () => ((found) => found.status === 'ready' && found)(await look()), {
        timeoutMs: 120_000,
        everyMs: 100,
      });
      expect(read).toMatchObject({ problem: null, chunks: { done: read.chunks.total } });
      expect((await send(1, 'DELETE', '/collections/wrecks')).status).toBe(200);
    }, 400_000);
  });
}
