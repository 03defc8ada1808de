import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import type { ModelInfo, ProviderStatus } from '@conclave/ports';
import { curlSnippet, sdkSnippet, startText, type StartFacts } from './start-text.js';

/** Longest wait for a process, in milliseconds. */
const boundMs = 20_000;

const model = (ref: string, more: Partial<ModelInfo> = {}): ModelInfo => ({
  ref,
  model: ref.split('@')[0]!,
  provider: ref.split('@')[1]!,
  context: null,
  price: null,
  local: true,
  demo: false,
  kind: 'chat',
  ...more,
});
const provider = (name: string, more: Partial<ProviderStatus> = {}): ProviderStatus => ({
  name,
  reachable: true,
  local: true,
  paid: false,
  note: '',
  maxConcurrency: 1,
  ...more,
});
const demo = model('conclave-demo@demo', { demo: true });
const facts: StartFacts = {
  listening: { url: 'http://127.0.0.1:8080', port: 8080, open: false, insteadOf: null },
  home: '/data/.conclave',
  extensions: [],
  file: null,
  models: [demo],
  providers: [provider('demo')],
  choice: { because: 'demo', models: [demo] },
  templates: ['conclave-fast', 'conclave'],
  search: '3 documents in samples',
  doors: { asked: 0, admin: { file: '/data/.conclave/admin.key', value: 'sk-admin', made: true }, lan: null },
  signIn: 'http://127.0.0.1:8080/#signin=once',
  loneKey: false,
  warnings: [],
  question: "Who's there?",
};

describe('the start-up text', () => {
  it('names what extensions brought, if there are any', () => {
    expect(startText(facts)).not.toContain('Extensions');
    expect(startText({ ...facts, extensions: ['strategy jury', 'capability loan'] })).toContain(
      '  Extensions strategy jury, capability loan\n',
    );
  });

  it('names address, models, data folder, and how to connect a real model', () => {
    const text = startText(facts);
    expect(text).toContain('Conclave is ready at http://127.0.0.1:8080\n');
    expect(text).toContain('conclave-demo@demo: the built-in DEMO model');
    expect(text).toContain('/data/.conclave');
    expect(text).toContain('OPENAI_BASE_URL=');
    expect(text).toContain('conclave.yaml');
    expect(text.split('\n').length).toBeLessThan(35);
  });

  it('states that another port is used', () => {
    const text = startText({ ...facts, listening: { url: 'http://127.0.0.1:8081', port: 8081, open: false, insteadOf: 8080 } });
    expect(text).toContain('http://127.0.0.1:8081 (port 8080 is taken; set PORT to choose one)');
  });

  it('warns when other machines can reach it', () => {
    expect(startText(facts)).toContain('this machine only');
    const open = { ...facts.listening, open: true };
    expect(startText({ ...facts, listening: open })).toContain('ANYONE who can reach this port');
    expect(startText({ ...facts, doors: { ...facts.doors, asked: 2 }, listening: open })).toContain(
      'anyone who can reach this port, with one of 2 API keys',
    );
  });

  it('states where the admin key is, and never the key', () => {
    const text = startText(facts);
    expect(text).toContain('the key in /data/.conclave/admin.key, just created');
    expect(text).not.toContain('sk-admin');
  });

  it('shows the link that signs a browser in, if there is a key to sign in with', () => {
    expect(startText(facts)).toContain('  Console    http://127.0.0.1:8080/#signin=once (signs this browser in, once');
    expect(startText({ ...facts, signIn: null })).not.toContain('signs this browser in');
  });

  it('explains how other programs use the key generated for them, which it shows once', () => {
    const lan = { file: '/data/lan.key', value: 'sk-lan-secret', made: true };
    const text = startText({ ...facts, doors: { ...facts.doors, asked: 2, lan } });
    expect(text).toContain('-e OPENAI_API_BASE_URL=http://host.docker.internal:8080/v1 -e OPENAI_API_KEY=sk-lan-secret');
    expect(text).toContain('OPENAI_API_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=sk-lan-secret open-webui serve');
    const later = startText({ ...facts, doors: { ...facts.doors, asked: 2, lan: { ...lan, made: false } } });
    expect(later).not.toContain('sk-lan-secret');
    expect(later).toContain(`OPENAI_API_KEY="$(cat '/data/lan.key')"`);
  });

  it('shows the role of each model when several were found', () => {
    const roles = {
      judge: 'big@ollama',
      experts: ['mid@ollama'],
      secondTier: ['big@ollama'],
      code: ['coder@ollama'],
      vision: ['mid@ollama'],
    };
    const qwen = { ...demo, ref: 'qwen@ollama', model: 'qwen', provider: 'ollama', demo: false };
    const text = startText({ ...facts, models: [qwen, qwen, qwen], providers: [], choice: { because: 'local', models: [qwen], roles } });
    expect(text).toMatch(/Models +3 found on this machine/);
    for (const row of [/experts +mid@ollama/, /code +coder@ollama/, /second tier +big@ollama/, /plans, judges +big@ollama/])
      expect(text).toMatch(row);
    expect(text).not.toContain('images');
  });

  it('does not mention demos and connecting once a real model is used', () => {
    const qwen = model('qwen3:8b@ollama');
    const text = startText({
      ...facts,
      models: [qwen, model('llama@ollama')],
      providers: [provider('ollama')],
      choice: { because: 'local', models: [qwen] },
    });
    expect(text).toContain('qwen3:8b@ollama; also llama@ollama');
    expect(text).not.toContain('DEMO');
    expect(text).not.toContain('Connect a real model');
  });

  it('reports what a server would cut silently, and not its number of models', () => {
    const qwen = model('qwen3:8b@ollama');
    const said = { ...facts, models: [qwen], choice: { because: 'local' as const, models: [qwen] } };
    expect(
      startText({ ...said, providers: [provider('ollama', { note: '1 chat models. Ollama cuts prompts at 4096 tokens.' })] }),
    ).toContain('Note       ollama: Ollama cuts prompts at 4096 tokens.');
    expect(startText({ ...said, providers: [provider('ollama', { note: '1 chat models.' })] })).not.toContain('Note');
  });

  it('names a paid model as paid, and a key that is not used', () => {
    const big = model('big@cloud', { local: false });
    expect(
      startText({ ...facts, models: [big], providers: [provider('cloud', { paid: true })], choice: { because: 'paid', models: [big] } }),
    ).toContain('big@cloud (paid)');
    expect(startText({ ...facts, loneKey: true })).toContain('OPENAI_API_KEY is set. It is used only on request');
  });

  it('reports which configured server does not answer', () => {
    const text = startText({
      ...facts,
      models: [],
      templates: [],
      providers: [provider('local', { reachable: false, note: 'connection refused' })],
      choice: { because: 'nothing', models: [] },
    });
    expect(text).toContain('none found. local: connection refused. The search');
    const listed = startText({
      ...facts,
      models: [],
      templates: [],
      providers: [provider('local')],
      choice: { because: 'nothing', models: [] },
    });
    expect(listed).toContain('none found. local: answers, and lists no model that can chat. The search');
    expect(text).not.toContain('curl');
  });

  it('uses the key in the environment when keys are configured', () => {
    const text = startText({ ...facts, doors: { ...facts.doors, asked: 1 } });
    expect(text).toContain('curl -N http://127.0.0.1:8080/v1/chat/completions -H "authorization: Bearer $CONCLAVE_API_KEY" -H');
    expect(text).toContain('apiKey: process.env.CONCLAVE_API_KEY }');
    expect(text).toContain('with your key in the variable CONCLAVE_API_KEY');
    expect(startText(facts)).not.toContain('CONCLAVE_API_KEY');
  });

  it('prints a curl line that a shell reads as one JSON body, whatever the question', () => {
    const line = curlSnippet('http://127.0.0.1:1', 'conclave', `Who's "there"? $HOME \`x\` \\ é`);
    const printed = execFileSync('sh', ['-c', line.replace('curl', 'printf "%s\\n"')], { encoding: 'utf8', timeout: boundMs })
      .trim()
      .split('\n');
    expect(JSON.parse(printed.at(-1)!)).toMatchObject({
      model: 'conclave',
      stream: true,
      messages: [{ role: 'user', content: `Who's "there"? $HOME \`x\` \\ é` }],
    });
  });

  it('prints an SDK snippet that a shell hands to Node as a valid module', () => {
    const snippet = sdkSnippet('http://127.0.0.1:1', 'conclave', `Who's "there"?`);
    const source = execFileSync('sh', ['-c', snippet.replace('node --input-type=module', 'cat')], { encoding: 'utf8', timeout: boundMs });
    expect(source).toContain("baseURL: 'http://127.0.0.1:1/v1'");
    expect(() =>
      execFileSync(process.execPath, ['--check', '--input-type=module', '-'], {
        input: source,
        stdio: ['pipe', 'ignore', 'pipe'],
        timeout: boundMs,
      }),
    ).not.toThrow();
  });
});
