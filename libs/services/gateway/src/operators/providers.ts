import { BlockList, isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import pTimeout from 'p-timeout';
import { demoProvider, Failure, type ProviderTest, type ProviderTestRequest, type ProviderView } from '@conclave/contracts';
import { MODELS, type ModelInfo, type Models, type ProviderStatus, STATE, type StateStore } from '@conclave/ports';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';

/** Milliseconds that looking at a server may take, and the test call. */
const lookMs = 10_000;
const callMs = 20_000;
/** Most model names in a sentence. */
const namedModels = 5;

/** Model servers, as an operator sees and tests them. */
@Injectable()
export class Providers {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'openTrial' | 'configuredProviders'>,
    @Inject(MODELS) private readonly models: Models,
    @Inject(STATE) private readonly state: Pick<StateStore, 'breakers' | 'leases'>,
  ) {}

  async list(): Promise<readonly ProviderView[]> {
    const [providers, models] = await Promise.all([this.models.providers(), this.models.list()]);
    return Promise.all(providers.map((provider) => this.viewOf(provider, models)));
  }

  /** Throws REQUEST_INVALID, PROVIDER_NOT_FOUND. A server that does not answer is a result, not a failure. */
  async test({ name, base_url: address, model }: ProviderTestRequest): Promise<ProviderTest> {
    if ((name === undefined) === (address === undefined))
      throw new Failure('REQUEST_INVALID', 'Send either `name` or `base_url`.', { param: 'name' });
    if (name !== undefined) {
      if (!(await this.models.providers()).some((provider) => provider.name === name)) throw new Failure('PROVIDER_NOT_FOUND');
      return this.look(this.models, name, model ?? null, null);
    }
    const url = addressOf(address!);
    if (!this.options.openTrial) throw new Failure('REQUEST_INVALID', 'This gateway opens no further servers.', { param: 'base_url' });
    const trial = await this.options.openTrial(url.href.replace(/\/$/, ''));
    try {
      return await this.look(trial, 'trial', model ?? null, url);
    } finally {
      await trial.close();
    }
  }

  private async look(models: Models, name: string, model: string | null, url: URL | null): Promise<ProviderTest> {
    const status = (await pTimeout(models.providers(), { milliseconds: lookMs, fallback: () => [] })).find((one) => one.name === name);
    const listed = (await pTimeout(models.list(), { milliseconds: lookMs, fallback: () => [] })).filter((one) => one.provider === name);
    const reachable = status?.reachable === true;
    const call = reachable && model !== null ? await callOnce(models, model, name) : null;
    const address = url?.href ?? status?.baseUrl ?? null;
    return {
      object: 'provider_test',
      ok: reachable && call?.ok !== false,
      sentence: sentenceOf(reachable, status?.note ?? `It did not answer within ${lookMs / 1_000} seconds.`, listed, call),
      base_url: address,
      models: listed.map((one) => one.model),
      call,
      yaml: url ? yamlOf(url) : null,
    };
  }

  private async viewOf(provider: ProviderStatus, models: readonly ModelInfo[]): Promise<ProviderView> {
    const { name, reachable, note, local, paid, maxConcurrency, baseUrl } = provider;
    const [used, breaker] = await Promise.all([
      this.state.leases.slotsHeld(name),
      provider.breaker ? this.state.breakers.read(name) : Promise.resolve(null),
    ]);
    const configured = this.options.configuredProviders?.includes(name);
    return {
      object: 'provider',
      name,
      base_url: baseUrl ?? null,
      from: name === demoProvider ? 'built-in' : configured ? 'configuration' : 'found',
      reachable,
      note,
      local,
      paid,
      models: models.filter((model) => model.provider === name).map(({ ref, kind, context }) => ({ id: ref, kind, context })),
      slots: { limit: maxConcurrency, used },
      breaker: breaker && breakerView(breaker.state),
    };
  }
}

type HeldState = Awaited<ReturnType<StateStore['breakers']['read']>>['state'];

const breakerView = (state: HeldState): NonNullable<ProviderView['breaker']> => {
  if (state === null) return { state: 'closed', since: null, failed: 0 };
  if (state.kind === 'closed') return { state: 'closed', since: null, failed: state.failed.filter(Boolean).length };
  return { state: state.kind, since: state.opened.at, failed: 0 };
};

/** Addresses of metadata services that clouds run beside a machine and that reveal its credentials, also written as IPv6. */
const metadata = new BlockList();
metadata.addSubnet('169.254.0.0', 16);
metadata.addSubnet('fe80::', 10, 'ipv6');
metadata.addSubnet('fd00:ec2::', 32, 'ipv6');
// The same IPv4 addresses behind a translation (RFC 6052, RFC 3056).
metadata.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
metadata.addSubnet('2002:a9fe::', 32, 'ipv6');

/** What a name resolves to is not checked: an operator may name any server in the configuration. */
function isMetadata(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  const version = isIP(host);
  return version === 0 ? host === 'metadata.google.internal' : metadata.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** Throws REQUEST_INVALID. */
function addressOf(text: string): URL {
  const refuse = (why: string): Failure => new Failure('REQUEST_INVALID', `\`base_url\` ${why}.`, { param: 'base_url' });
  if (!URL.canParse(text)) throw refuse('must be an http or https address that ends in /v1 for most servers');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('must begin with http:// or https://');
  if (url.username || url.password || url.search || url.hash)
    throw refuse('must not hold credentials or parameters; put a key into an environment variable and name that in `api_key_env`');
  if (isMetadata(url.hostname)) throw refuse('must not be a link-local address');
  return url;
}

async function callOnce(models: Models, model: string, provider: string): Promise<NonNullable<ProviderTest['call']>> {
  const ref = model.endsWith(`@${provider}`) ? model : `${model}@${provider}`;
  const began = performance.now();
  const done = (ok: boolean, sentence: string) => ({ model, ok, sentence, duration_ms: Math.round(performance.now() - began) });
  try {
    const reply = await models.call(
      { model: ref, messages: [{ role: 'user', content: 'Reply with the word OK.' }], maxTokens: 16, timeoutMs: callMs },
      { signal: AbortSignal.timeout(callMs) },
    );
    const said = reply.content.trim().slice(0, 40);
    return done(true, said === '' ? 'It answered without text.' : `It answered: ${said}`);
  } catch (error) {
    if (error instanceof Failure) return done(false, error.message);
    throw error;
  }
}

function sentenceOf(reachable: boolean, note: string, models: readonly ModelInfo[], call: ProviderTest['call']): string {
  if (!reachable) return note;
  const chat = models.filter(({ kind }) => kind === 'chat').map(({ model }) => model);
  const named = chat.slice(0, namedModels).join(', ') + (chat.length > namedModels ? ` and ${chat.length - namedModels} more` : '');
  const found = chat.length === 0 ? 'It answers, and lists no chat model.' : `It answers and offers ${named}.`;
  return call ? `${found} ${call.model}: ${call.sentence}${call.ok ? ` (${call.duration_ms} ms)` : ''}` : found;
}

/** A name for a server without one. */
const nameOf = ({ hostname, port }: URL): string =>
  /^(localhost|127\.|\[::1\])/.test(hostname)
    ? `local${port && `-${port}`}`
    : hostname.replaceAll(/[^A-Za-z0-9.-]/g, '').slice(0, 64) || 'server';

/** Quoted, so that no part of an address is parsed as YAML. */
const yamlOf = (url: URL): string =>
  [
    'providers:',
    `  ${nameOf(url)}:`,
    `    base_url: ${JSON.stringify(url.href.replace(/\/$/, ''))}`,
    ...(url.protocol === 'https:' ? ['    api_key_env: MODEL_SERVER_KEY   # name of the variable that holds its key'] : []),
    '',
  ].join('\n');
