import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Configuration, TlsSettings } from '@conclave/contracts';
import type { Variables } from './environment.js';
import type { PathProblem } from './references.js';

export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

interface Login {
  readonly user?: string;
  readonly password?: string;
}

/** Keys and passwords, kept apart so that the configuration can be shown. Never logged. */
export interface Secrets {
  /** Provider name -> API key. */
  readonly providerKeys: Readonly<Record<string, string>>;
  /** Provider name -> headers from `headers_env`, by name. */
  readonly providerHeaders: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Name under `keys` -> API key of a client. */
  readonly clientKeys: Readonly<Record<string, string>>;
  /** Webhook name -> its address and secrets. */
  readonly webhooks: Readonly<Record<string, { readonly url?: string; readonly secret?: string; readonly botToken?: string }>>;
  /** Signs deliveries to addresses of clients. */
  readonly webhookClients?: string;
  readonly kafka: Login & { readonly tls: false | true | TlsFiles };
  readonly redis: Login & { readonly sentinel: Login; readonly tls: false | true | TlsFiles };
  readonly neo4j: Login;
  readonly chroma: { readonly token?: string };
  readonly s3: { readonly accessKey?: string; readonly secretKey?: string };
}

/** Programs of a cluster, each of which gets only a part of the secrets. */
export type SecretHolder = 'gateway' | 'planner' | 'experts' | 'merger' | 'graph-ingest';

/**
 * The programs that need a secret that not every program needs. All programs call models and read the log, the state, bodies and vectors.
 */
const holders = {
  clientKeys: ['gateway'],
  webhooks: ['merger'],
  graph: ['gateway', 'planner', 'experts', 'graph-ingest'],
} as const satisfies Readonly<Record<string, readonly SecretHolder[]>>;

const signingRemedy = 'It is `whsec_` and the base64 of 24 to 64 bytes: `echo "whsec_$(openssl rand -base64 32)"` makes one.';

/** `whsec_` and base64 of 24 to 64 bytes, as in Standard Webhooks. */
function isSigningSecret(text: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1];
  const bytes = encoded === undefined ? 0 : Buffer.from(encoded, 'base64').length;
  return bytes >= 24 && bytes <= 64;
}

/**
 * Reads the secrets that the configuration names by environment variable or file. A missing one is a problem at the line that names it.
 * `holder` is the program: secrets that it does not need are neither read nor reported as missing; null for a program that needs all of
 * them.
 */
export function resolveSecrets(
  configuration: Configuration,
  variables: Variables,
  folder: string,
  holder: SecretHolder | null,
): { readonly secrets: Secrets; readonly problems: readonly PathProblem[] } {
  const problems: PathProblem[] = [];
  const needs = (part: keyof typeof holders): boolean => holder === null || (holders[part] as readonly SecretHolder[]).includes(holder);
  const fromEnv = (name: string | undefined, path: readonly PropertyKey[]): string | undefined => {
    if (!name) return undefined;
    if (!variables[name])
      problems.push({ path, problem: `the environment variable ${name} is not set.`, remedy: `Set ${name}, or remove this setting.` });
    return variables[name] || undefined;
  };
  const fromFile = (name: string | undefined, path: readonly PropertyKey[]): string | undefined => {
    if (!name) return undefined;
    const file = resolve(folder, name);
    if (existsSync(file)) return readFileSync(file, 'utf8').trim();
    problems.push({ path, problem: `there is no file ${name}.`, remedy: 'Paths are relative to this file.' });
    return undefined;
  };
  const tls = (setting: TlsSettings, path: readonly PropertyKey[]): boolean | TlsFiles => {
    if (typeof setting === 'boolean') return setting;
    const ca = fromFile(setting.ca_file, [...path, 'ca_file']);
    const cert = fromFile(setting.cert_file, [...path, 'cert_file']);
    const key = fromFile(setting.key_file, [...path, 'key_file']);
    return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
  };

  const providerKeys: Record<string, string> = {};
  const providerHeaders: Record<string, Record<string, string>> = {};
  for (const [name, provider] of Object.entries(configuration.providers)) {
    const at = ['providers', name];
    const key = fromEnv(provider.api_key_env, [...at, 'api_key_env']) ?? fromFile(provider.api_key_file, [...at, 'api_key_file']);
    if (key) providerKeys[name] = key;
    for (const [header, variable] of Object.entries(provider.headers_env)) {
      const path = [...at, 'headers_env', header];
      const value = fromEnv(variable, path);
      if (value !== undefined && !/^[\x20-\x7e]+$/.test(value))
        problems.push({
          path,
          problem: `${variable} contains a line break or other characters that a header cannot have.`,
          remedy: `Correct ${variable}.`,
        });
      else if (value !== undefined) providerHeaders[name] = { ...providerHeaders[name], [header.toLowerCase()]: value };
    }
  }
  const clientKeys: Record<string, string> = {};
  for (const [name, setting] of Object.entries(needs('clientKeys') ? configuration.keys : {})) {
    const at = ['keys', name];
    const key = fromEnv(setting.key_env, [...at, 'key_env']) ?? fromFile(setting.key_file, [...at, 'key_file']);
    const same = Object.entries(clientKeys).find(([, other]) => other === key);
    if (same)
      problems.push({ path: at, atKey: true, problem: `is the same key as \`${same[0]}\`.`, remedy: 'Give each name its own key.' });
    if (key === '') problems.push({ path: at, atKey: true, problem: 'its file is empty.', remedy: 'Put the key into the file.' });
    if (key) clientKeys[name] = key;
  }
  const webhooks: Record<string, Secrets['webhooks'][string]> = {};
  const signing = (secret: string | undefined, path: readonly PropertyKey[]): { readonly secret?: string } => {
    if (secret !== undefined && !secret.split(/\s+/).every(isSigningSecret))
      problems.push({ path, problem: 'is not a secret for signatures.', remedy: signingRemedy });
    return secret === undefined ? {} : { secret };
  };
  for (const [name, setting] of Object.entries(needs('webhooks') ? configuration.webhooks : {})) {
    const at = ['webhooks', name];
    const url = fromEnv(setting.url_env, [...at, 'url_env']) ?? fromFile(setting.url_file, [...at, 'url_file']);
    if (url !== undefined && !(/^https?:/.test(url) && URL.canParse(url)))
      problems.push({
        path: at,
        atKey: true,
        problem: 'its address is not an http or https address.',
        remedy: 'Correct the variable or the file.',
      });
    const botToken =
      fromEnv(setting.bot_token_env, [...at, 'bot_token_env']) ?? fromFile(setting.bot_token_file, [...at, 'bot_token_file']);
    if (botToken !== undefined && !/^[A-Za-z0-9:_-]+$/.test(botToken))
      problems.push({ path: at, atKey: true, problem: 'its bot token is not a Telegram token.', remedy: 'Copy it from @BotFather.' });
    const secret = fromEnv(setting.secret_env, [...at, 'secret_env']) ?? fromFile(setting.secret_file, [...at, 'secret_file']);
    webhooks[name] = { ...(url ? { url } : {}), ...(botToken ? { botToken } : {}), ...signing(secret, at) };
  }
  const { client_secret_env: clientEnv, client_secret_file: clientFile } = needs('webhooks') ? configuration.webhook_delivery : {};
  const ofClients = ['webhook_delivery'];
  const { secret: webhookClients } = signing(
    fromEnv(clientEnv, [...ofClients, 'client_secret_env']) ?? fromFile(clientFile, [...ofClients, 'client_secret_file']),
    ofClients,
  );
  const { kafka, redis, neo4j, chroma, blobs } = configuration.stores;
  const token = fromEnv(chroma?.token_env, ['stores', 'chroma', 'token_env']);
  const s3 = blobs?.s3;
  const accessKey = fromEnv(s3?.access_key_env, ['stores', 'blobs', 's3', 'access_key_env']);
  const secretKey = fromEnv(s3?.secret_key_env, ['stores', 'blobs', 's3', 'secret_key_env']);
  const login = (user: string | undefined, password: string | undefined): Login => ({
    ...(user ? { user } : {}),
    ...(password ? { password } : {}),
  });
  const secrets: Secrets = {
    providerKeys,
    providerHeaders,
    clientKeys,
    webhooks,
    ...(webhookClients ? { webhookClients } : {}),
    kafka: {
      ...login(
        fromEnv(kafka?.sasl.user_env, ['stores', 'kafka', 'sasl', 'user_env']),
        fromEnv(kafka?.sasl.password_env, ['stores', 'kafka', 'sasl', 'password_env']),
      ),
      tls: kafka ? tls(kafka.ssl, ['stores', 'kafka', 'ssl']) : false,
    },
    redis: {
      ...login(
        fromEnv(redis?.user_env, ['stores', 'redis', 'user_env']),
        fromEnv(redis?.password_env, ['stores', 'redis', 'password_env']),
      ),
      sentinel: login(
        fromEnv(redis?.sentinel?.user_env, ['stores', 'redis', 'sentinel', 'user_env']),
        fromEnv(redis?.sentinel?.password_env, ['stores', 'redis', 'sentinel', 'password_env']),
      ),
      tls: redis ? tls(redis.tls, ['stores', 'redis', 'tls']) : false,
    },
    neo4j:
      neo4j && needs('graph')
        ? login(fromEnv(neo4j.user_env, ['stores', 'neo4j', 'user_env']), fromEnv(neo4j.password_env, ['stores', 'neo4j', 'password_env']))
        : {},
    chroma: token ? { token } : {},
    s3: { ...(accessKey ? { accessKey } : {}), ...(secretKey ? { secretKey } : {}) },
  };
  return { secrets, problems };
}
