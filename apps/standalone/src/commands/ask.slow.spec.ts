import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { sampleQuestion } from '@conclave/adapter-demo';
import { ask, exitCodes } from './ask.js';
import { GatewayClient } from './gateway-client.js';
import { findGateway } from './running-gateway.js';
import { printRun, printRuns } from './runs.js';
import { up } from './up.js';

/** Ports where nothing listens, so that a model server on this machine does not change the test. */
const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };

let home: string;
const open: { close(): Promise<void> }[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'conclave-ask-'));
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  rmSync(home, { recursive: true, force: true });
});

const load = (variables: Record<string, string> = {}): Loaded =>
  loadConfiguration({ CONCLAVE_HOME: home, PORT: '9', ...variables }, home, { categories: Object.keys(expertPrompts) });

class Text {
  text = '';
  write(text: string): void {
    this.text += text;
  }
}

async function asked(loaded: Loaded, question: string, model = 'conclave', signal = new AbortController().signal) {
  const answer = new Text();
  const progress = new Text();
  const code = await ask({ loaded, question, model, answer, progress, localServers, signal });
  return { code, answer: answer.text, progress: progress.text };
}

async function started(variables: Record<string, string> = {}) {
  const out = new Text();
  const terminal = new Text();
  const running = await up({ loaded: load({ PORT: '0', ...variables }), out, terminal, localServers });
  open.push(running);
  return { running, out, terminal };
}

describe('ask', () => {
  it('starts an embedded gateway when none runs, and shows plan, gap, re-plan, answer and why it stopped', async () => {
    const { code, answer, progress } = await asked(load(), sampleQuestion());
    expect(code).toBe(exitCodes.answered);
    expect(answer).toMatch(/\[1\]/);
    expect(answer).toContain('Sources:');
    for (const words of ['DEMO model', 'Plan: ', 'More is needed', 'Iteration 1/3', 'Writing the answer', 'Done: '])
      expect(progress).toContain(words);
  }, 30_000);

  it('asks the gateway that runs on the data folder, whatever its port', async () => {
    const { running } = await started();
    expect((await findGateway(load()))?.url).toBe(running.listening.url);
    const { code, progress } = await asked(load(), sampleQuestion(), 'conclave-fast');
    expect(code).toBe(exitCodes.answered);
    expect(progress).not.toContain('DEMO model answers');
    const listed = new Text();
    const client = new GatewayClient(running.listening.url);
    await printRuns(client, listed);
    expect(listed.text).toContain('conclave-fast');
    const shown = new Text();
    await printRun(client, listed.text.split(' ')[0]!, shown);
    expect(shown.text).toContain('Round 1');
    expect(shown.text).toContain('judge.synthesis');
  }, 30_000);

  it('shows colours and the time on a terminal, but not in a file or JSON', async () => {
    await started();
    const escape = '\u001b[';
    const on = async (isTTY: boolean, environment: Record<string, string>, json = false) => {
      const answer = new Text();
      const progress = Object.assign(new Text(), { isTTY });
      const signal = new AbortController().signal;
      await ask({
        loaded: load(),
        question: sampleQuestion(),
        model: 'conclave',
        json,
        answer,
        progress,
        environment,
        localServers,
        signal,
      });
      return { answer: answer.text, progress: progress.text };
    };
    const seen = await on(true, {});
    expect(seen.progress).toContain(`${escape}36m🎯`);
    expect(seen.progress).toMatch(/tokens \(estimated\), \d+\.\d s/);
    expect(seen.answer).not.toContain(escape);
    expect((await on(true, { NO_COLOR: '1' })).progress).not.toContain(`${escape}36m`);
    const filed = await on(false, {});
    expect([filed.progress.includes('\u001b'), filed.progress.includes('\r')]).toEqual([false, false]);
    const { answer } = await on(true, { FORCE_COLOR: '1' }, true);
    expect([answer.includes('\u001b'), JSON.parse(answer)]).toEqual([false, expect.objectContaining({ outcome: 'completed' })]);
  }, 30_000);

  it('says why there is no answer, also without progress', async () => {
    const failing = createServer((request, response) => {
      const isList = request.method === 'GET';
      response.writeHead(isList ? 200 : 500, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isList ? { data: [{ id: 'broken', object: 'model' }] } : { error: { message: 'The disk is full.' } }));
    });
    await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve));
    open.push({ close: () => new Promise((resolve) => failing.close(() => resolve())) });
    const { port } = failing.address() as AddressInfo;
    await started({ OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` });
    const [answer, failures] = [new Text(), new Text()];
    const quiet = { write: () => undefined };
    const signal = new AbortController().signal;
    const code = await ask({
      loaded: load(),
      question: 'Why?',
      model: 'conclave',
      answer,
      progress: quiet,
      failures,
      localServers,
      signal,
    });
    expect(code).toBe(exitCodes.failed);
    expect(answer.text).toBe('');
    expect(failures.text).toContain('The disk is full.');
  }, 30_000);

  it("shows the gateway's message about an unknown model", async () => {
    await started();
    await expect(asked(load(), 'Anything?', 'conclafe')).rejects.toThrow(/conclave-fast/);
  }, 30_000);

  it('refuses a CONCLAVE_URL that does not answer instead of asking another gateway', async () => {
    await expect(asked(load({ CONCLAVE_URL: 'http://127.0.0.1:9' }), 'Anything?')).rejects.toThrow(
      /No Conclave gateway answers at CONCLAVE_URL=\S+ Start it there .*, or unset CONCLAVE_URL/,
    );
  });
});

describe('up', () => {
  it('prints the address, the demo label and snippets, and leaves no note behind', async () => {
    const { running, out, terminal } = await started();
    expect(out.text).toContain(`Conclave is ready at ${running.listening.url}`);
    expect(out.text).toContain('DEMO model');
    expect(out.text).toContain(sampleQuestion());
    expect(terminal.text).toBe('');
    expect(existsSync(join(home, 'gateway.json'))).toBe(true);
    await running.close();
    expect(existsSync(join(home, 'gateway.json'))).toBe(false);
    await expect(fetch(running.listening.url)).rejects.toThrow();
  }, 30_000);

  it('answers the readiness check, and serves metrics on the admin port alone', async () => {
    const { running } = await started({ ADMIN_PORT: '0' });
    const ready = await fetch(`${running.listening.url}/health/ready`);
    expect(ready.status).toBe(200);
    expect((await fetch(`${running.listening.url}/metrics`)).status).toBe(404);
    expect(await (await fetch(`http://127.0.0.1:${running.adminPort}/metrics`)).text()).toContain('conclave_event_handle_seconds');
  }, 30_000);

  it('refuses to listen for other machines without keys, before it opens anything', async () => {
    await expect(up({ loaded: load({ PORT: '0', HOST: '0.0.0.0' }), out: new Text(), terminal: new Text(), localServers })).rejects.toThrow(
      /HOST is 0\.0\.0\.0.*npm start -- --lan/s,
    );
    expect(existsSync(join(home, 'conclave.db'))).toBe(false);
  });

  it('with --lan accepts other machines with the generated key, and none without it', async () => {
    const out = new Text();
    const running = await up({ loaded: load({ PORT: '0' }), out, terminal: new Text(), localServers, lan: true });
    open.push(running);
    const key = readFileSync(join(home, 'lan.key'), 'utf8').trim();
    expect(out.text).toContain(`OPENAI_API_BASE_URL=http://host.docker.internal:${running.listening.port}/v1 -e OPENAI_API_KEY=${key}`);
    const models = async (headers: Record<string, string>) => (await fetch(`${running.listening.url}/v1/models`, { headers })).status;
    expect([await models({}), await models({ 'x-api-key': 'sk-any' }), await models({ 'x-api-key': key })]).toEqual([401, 401, 200]);
    const admin = async (value: string) =>
      (await fetch(`${running.listening.url}/v1/admin/prompts`, { headers: { 'x-api-key': value } })).status;
    expect([await admin(key), await admin(readFileSync(join(home, 'admin.key'), 'utf8').trim())]).toEqual([403, 200]);
    // The command line of this folder has access.
    expect((await (await findGateway(load()))!.list()).data).toEqual([]);
  }, 30_000);

  it('refuses a data folder that another process uses, and closes what it opened', async () => {
    await started();
    const out = new Text();
    await expect(up({ loaded: load({ PORT: '0' }), out, terminal: new Text(), localServers })).rejects.toMatchObject({
      code: 'DATA_FOLDER_IN_USE',
    });
    expect(out.text).toBe('');
  }, 30_000);
});
