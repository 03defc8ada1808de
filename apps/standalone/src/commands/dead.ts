import { parseArgs } from 'node:util';
import { Failure } from '@conclave/contracts';
import type { Loaded } from '@conclave/platform';
import { exitCodes } from './ask.js';
import { decider, openDeadAccess, type DeadAccess } from './dead-access.js';
import { letterText, listText, settledText } from './dead-text.js';
import { GatewayRefusal } from './gateway-client.js';
import { typed } from './typed.js';

export const deadHelp = `conclave dead: records that could not be handled

  conclave dead list                   open dead letters, newest first; exit code 0
      --topic <t> --group <g> --reason undecodable|failed|killed_process
      --all                            settled ones too, with the person and time
      --limit <n> --before <page>      page by page, 50 at a time
  conclave dead show <id>              source, reason, consequences, headers, value
      --raw                            only the value, byte by byte
  conclave dead redrive <id>...        publishes the record again, only for the group that failed
      --again                          even if it is already settled
  conclave dead discard <id>...        marks it as settled without handling
      --note <text>                    why, for the record (redrive and discard)

  --json prints what the admin API answers. Exit code 1 if a letter is unknown, already settled, or not reachable.
  The record keeps its id, so it takes effect once however often it is re-driven. If its failure ended the run
  or its task, a re-drive no longer changes that; the command says so.
  Uses the running gateway (from its own machine), otherwise Kafka or a stopped data folder.
`;

export interface DeadCommand {
  readonly loaded: () => Loaded;
  /** Arguments after `conclave dead`. */
  readonly args: readonly string[];
  readonly out: { write(text: string | Uint8Array): unknown };
  readonly terminal: { write(text: string): unknown };
}

/** Returns the exit code. Errors of parseArgs about unknown options and failures of the log pass through. */
export async function deadCommand({ loaded, args, out, terminal }: DeadCommand): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      topic: { type: 'string' },
      group: { type: 'string' },
      reason: { type: 'string' },
      all: { type: 'boolean', default: false },
      limit: { type: 'string', default: '50' },
      before: { type: 'string' },
      raw: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
      note: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [verb, ...ids] = positionals;
  const limit = Number(values.limit);
  const usage = (why: string): number => {
    terminal.write(typed(`${why}\n\n${deadHelp}`));
    return exitCodes.usage;
  };
  if (values.help) {
    out.write(typed(deadHelp));
    return exitCodes.answered;
  }
  if (verb !== 'list' && verb !== 'show' && verb !== 'redrive' && verb !== 'discard')
    return usage(verb === undefined ? 'A command for dead letters is missing.' : `There is no command "dead ${verb}".`);
  if (verb === 'list' ? ids.length > 0 : ids.length === 0)
    return usage(verb === 'list' ? '`dead list` takes no id.' : 'Name a letter by its id.');
  if (verb === 'show' && ids.length > 1) return usage('`dead show` takes one id.');
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) return usage('--limit is a whole number from 1 to 200.');

  const json = (value: unknown): unknown => out.write(`${JSON.stringify(value, null, 2)}\n`);
  const { topic, group, reason, before, all } = values;
  const access = await openDeadAccess(loaded(), terminal);
  try {
    if (verb === 'list') {
      const filter = { ...(topic ? { topic } : {}), ...(group ? { group } : {}), ...(reason ? { reason } : {}), all };
      const list = await access.list(filter, { limit, ...(before ? { before } : {}) });
      if (values.json) json(list);
      else out.write(listText(list, access.where, all));
      return exitCodes.answered;
    }
    if (verb === 'show') {
      const letter = await access.show(ids[0]!);
      if (values.raw) out.write(Buffer.from(letter.raw.base64, 'base64'));
      else if (values.json) json(letter);
      else out.write(letterText(letter));
      return exitCodes.answered;
    }
    return await settleAll(
      access,
      verb,
      ids,
      { note: values.note ?? null, again: values.again },
      (settled) => (values.json ? json(settled) : out.write(settledText(settled))),
      terminal,
    );
  } finally {
    await access.close();
  }
}

/** Settles the letters one by one; a refusal does not stop the others. */
async function settleAll(
  access: DeadAccess,
  verb: 'redrive' | 'discard',
  ids: readonly string[],
  { note, again }: { readonly note: string | null; readonly again: boolean },
  say: (settled: Awaited<ReturnType<DeadAccess['discard']>>) => unknown,
  terminal: DeadCommand['terminal'],
): Promise<number> {
  let refused = 0;
  const decision = { actor: decider(), note };
  for (const id of ids) {
    try {
      say(verb === 'redrive' ? await access.redrive(id, { ...decision, again }) : await access.discard(id, decision));
    } catch (error) {
      if (!(error instanceof Failure || error instanceof GatewayRefusal)) throw error;
      refused += 1;
      terminal.write(`Letter ${id}: ${error.message}\n`);
    }
  }
  return refused === 0 ? exitCodes.answered : exitCodes.failed;
}
