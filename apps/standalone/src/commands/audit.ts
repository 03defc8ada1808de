import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { type AuditHead, DetailRead, Failure, ownEvent } from '@conclave/contracts';
import { logPlace, newProcessId, openLog } from '@conclave/host';
import {
  type AuditFilter,
  auditPublicKeyOf,
  type Loaded,
  openAuditKey,
  openLogger,
  terminalLines,
  textLines,
  verifyAudit,
} from '@conclave/platform';
import { exportAudit } from '@conclave/platform/export-audit';
import { exitCodes } from './ask.js';
import { momentFrom } from './account-options.js';
import { decider } from './dead-access.js';
import { findGateway } from './running-gateway.js';
import { typed } from './typed.js';
import { readArguments, UsageMistake } from './usage.js';

export const auditHelp = `conclave audit: who did what, for an auditor

  conclave audit export                every step, call, command, change of a setting and reading of prompts, as hash-chained
                                       lines of JSON with a signed head at the end
      --out <file>                     a new file; standard output without it
      --tenant <t> --run <id>          only those of a tenant, of a run and its child runs
      --since <time> --until <time>    a date, or a span back from now such as 30d, by the clock of the log
      --key <file>                     Ed25519 key (PEM) that signs; created if it is missing. audit.key in the data folder by default
  conclave audit verify <file>         names the first line that was changed, with exit code 1; - reads standard input
      --public-key <key or file>       accepts only a head that this key has signed
  conclave audit key                   prints the public key for auditors; --key <file>

  Uses the running gateway, which signs with its own key: a key of the role auditor exports its tenant. Otherwise reads Kafka, or the
  data folder of a stopped server. An export shows prompts, so it is itself recorded.
`;

export interface AuditCommand {
  readonly loaded: () => Loaded;
  /** Arguments after `conclave audit`. */
  readonly args: readonly string[];
  readonly input: NodeJS.ReadableStream;
  readonly out: Writable;
  readonly terminal: { write(text: string): unknown };
  readonly signal: AbortSignal;
}

const verbs = ['export', 'verify', 'key'] as const;
/** Options that only some verbs accept. */
const taken: Readonly<Record<string, readonly (typeof verbs)[number][]>> = {
  out: ['export'],
  tenant: ['export'],
  run: ['export'],
  since: ['export'],
  until: ['export'],
  key: ['export', 'key'],
  'public-key': ['verify'],
};

/** Returns the exit code. Throws UsageMistake, GatewayRefusal, DATA_FOLDER_IN_USE, CONFIGURATION_INVALID; errors of the stores pass through. */
export async function auditCommand(command: AuditCommand): Promise<number> {
  const { args, out, terminal, loaded } = command;
  const { positionals, values } = readArguments(args, {
    out: { type: 'string', short: 'o' },
    tenant: { type: 'string' },
    run: { type: 'string' },
    since: { type: 'string' },
    until: { type: 'string' },
    key: { type: 'string' },
    'public-key': { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  const [word, ...names] = positionals;
  const verb = verbs.find((known) => known === word);
  if (values.help) return (out.write(typed(auditHelp)), exitCodes.answered);
  if (!verb) {
    terminal.write(
      `${word === undefined ? 'A command for the audit is missing.' : `There is no command "audit ${word}".`}\n\n${auditHelp}`,
    );
    return exitCodes.usage;
  }
  for (const [option, by] of Object.entries(taken))
    if (values[option as keyof typeof values] !== undefined && !by.includes(verb))
      throw new UsageMistake(`\`audit ${verb}\` does not take --${option}.`);
  if (verb === 'verify' ? names.length !== 1 : names.length > 0)
    throw new UsageMistake(verb === 'verify' ? 'Name one exported file: audit verify <file>.' : `\`audit ${verb}\` takes only options.`);
  if (verb === 'verify') return verify(command, names[0]!, values['public-key'], values.json);
  const all = loaded();
  const keyFile = values.key ?? all.environment.CONCLAVE_AUDIT_KEY_FILE ?? join(all.home, 'audit.key');
  if (verb === 'key') return (out.write(`${openAuditKey(keyFile).publicKey}\n`), exitCodes.answered);
  const now = Date.now();
  const filter: AuditFilter = {
    tenant: values.tenant ?? null,
    run: values.run ?? null,
    since: values.since === undefined ? null : past('since', values.since, now),
    until: values.until === undefined ? null : past('until', values.until, now),
  };
  return exportTo(command, all, filter, values.out ?? null, { file: keyFile, named: values.key !== undefined });
}

/** Milliseconds since 1970 of a date, or of a span before now. Throws UsageMistake. */
const past = (option: string, text: string, now: number): number => {
  const at = momentFrom(option, text, now);
  return /^\d+[a-z]+$/i.test(text.trim()) ? now - (at - now) : at;
};

async function exportTo(
  { out, terminal, signal }: AuditCommand,
  loaded: Loaded,
  filter: AuditFilter,
  file: string | null,
  key: { readonly file: string; readonly named: boolean },
): Promise<number> {
  const target = file === null ? out : createWriteStream(file, { flags: 'wx', mode: 0o600 });
  if (target !== out) await opened(target, file!);
  const last = new LastLine();
  const write = async (text: string): Promise<void> => {
    last.take(text);
    if (!target.write(text)) await once(target, 'drain');
  };
  const client = await findGateway(loaded);
  if (client && key.named)
    throw new UsageMistake(
      `The gateway at ${client.url} signs with its own key (CONCLAVE_AUDIT_KEY_FILE): leave --key out, or stop it and export from the log itself.`,
    );
  if (client) {
    const query = new URLSearchParams(
      Object.entries(filter).flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, String(value)]])),
    );
    terminal.write(`Exporting from the gateway at ${client.url} ...\n`);
    // Empty lines only keep the connection.
    for await (const text of client.text(`/v1/audit?${query.toString()}`, signal)) await write(text.replace(/^\n+/, ''));
  } else await exportFromLog(loaded, filter, key.file, { terminal, signal, write });
  if (target !== out) await new Promise<void>((resolve, reject) => target.on('error', reject).end(resolve));
  const { head, public_key } = last.seal();
  terminal.write(`${headText(head)}\nSigned with the key ${public_key}\n`);
  return exitCodes.answered;
}

async function exportFromLog(
  loaded: Loaded,
  filter: AuditFilter,
  keyFile: string,
  { terminal, signal, write }: { terminal: AuditCommand['terminal']; signal: AbortSignal; write: (text: string) => Promise<void> },
): Promise<void> {
  const logger = openLogger({ level: loaded.environment.LOG_LEVEL, sinks: [terminalLines(terminal)], fields: {} });
  const log = await openLog({ loaded, logger, processId: newProcessId('audit') });
  if (!log) throw new Failure('RUN_NOT_FOUND', `Nothing is recorded in ${logPlace(loaded)}.`);
  try {
    const key = openAuditKey(keyFile);
    if (key.made) terminal.write(`Created the key ${key.file}; give its public half to your auditors.\n`);
    const actor = decider();
    const now = await log.state.now();
    const { tenant, run, since, until } = filter;
    const read = ownEvent(
      DetailRead,
      { id: `detail/export/${run ?? 'all'}/${actor}/${now}`, runId: 'detail-reads', source: 'transport', time: now },
      { what: 'export', tenant, actor, run, since, until, readAt: now },
    );
    await log.log.publish([read]);
    let told = Date.now();
    const onProgress = (at: { readonly read: number; readonly exported: number }): void => {
      if (Date.now() - told < 1_000) return;
      told = Date.now();
      terminal.write(`${at.read} records read, ${at.exported} to export ...\n`);
    };
    const lines = exportAudit({ source: { log: log.log, runs: log.runs }, filter, actor, now, key, signal, onProgress });
    for await (const line of lines) await write(line);
  } finally {
    await log.close();
  }
}

/** Keeps the last line of what passes. */
class LastLine {
  private text = '';

  take(more: string): void {
    const all = this.text + more;
    const end = all.lastIndexOf('\n', all.length - 2);
    this.text = all.slice(end + 1);
  }

  seal(): { readonly head: AuditHead; readonly public_key: string } {
    const seal = this.text.startsWith('{"head"') ? (JSON.parse(this.text) as { head: AuditHead; public_key: string }) : null;
    if (!seal) throw new Failure('LOG_UNAVAILABLE', 'The export broke off before its head: `audit verify` refuses what was written.');
    return seal;
  }
}

/** Resolves when the file exists. Throws UsageMistake. */
async function opened(target: Writable, file: string): Promise<void> {
  try {
    await once(target, 'open');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageMistake(
      code === 'EEXIST' ? `${file} exists. Name a new file.` : `${file} cannot be written (${code ?? String(error)}).`,
      {
        cause: error,
      },
    );
  }
}

async function verify({ input, out }: AuditCommand, file: string, named: string | undefined, json: boolean): Promise<number> {
  const publicKey = named === undefined ? null : await publicKeyFrom(named);
  const source = file === '-' ? (input as AsyncIterable<Uint8Array>) : createReadStream(file);
  const verdict = await verifyAudit(textLines(source), publicKey).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    throw code === undefined ? cause : new UsageMistake(`${file} cannot be read (${code}).`, { cause });
  });
  if (json) out.write(`${JSON.stringify(verdict, null, 2)}\n`);
  else if (!verdict.whole) out.write(`Line ${verdict.line}: ${verdict.why}\n`);
  else
    out.write(
      `${headText(verdict.head)}\n${
        publicKey === null
          ? `Whole by itself, and signed with the key ${verdict.publicKey}\nAnyone who can rewrite the file can also sign it again: pass the key that you were given with --public-key.\n`
          : 'Whole, and signed with the key that you named.\n'
      }`,
    );
  return verdict.whole ? exitCodes.answered : exitCodes.failed;
}

async function publicKeyFrom(named: string): Promise<string> {
  const key = auditPublicKeyOf(named) ?? auditPublicKeyOf(await readFile(named, 'utf8').catch(() => ''));
  if (key === null) throw new UsageMistake('--public-key is an Ed25519 public key: what `conclave audit key` prints, or a file with it.');
  return key;
}

function headText({ count, first, last, tenant, run, exported_at, exported_by }: AuditHead): string {
  const whose = [tenant === null ? 'all tenants' : `tenant ${tenant}`, ...(run === null ? [] : [run])].join(', ');
  const when = first === null ? '' : ` from ${first} to ${last}`;
  return `${count} ${count === 1 ? 'record' : 'records'} of ${whose}${when}; exported ${exported_at} by ${exported_by}`;
}
