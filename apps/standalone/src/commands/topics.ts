import { parseArgs } from 'node:util';
import { kafkaTopics } from '@conclave/host';
import { openLogger, terminalLines, type Loaded } from '@conclave/platform';
import { exitCodes } from './ask.js';
import { typed } from './typed.js';

export const topicsHelp = `conclave topics: what the event log needs on a Kafka cluster

  conclave topics plan                 the topics, their settings and the access of the services, as shell commands of
                                       Kafka for an administrator; reads and changes nothing
      --principal <name>               user of the services; User:conclave by default
      --command-config <file>          client settings file named in each command
  conclave topics create               creates what is missing, with retention and compaction; changes nothing else
  conclave topics check                compares the cluster with the plan: one sentence for each difference, and exit code 1

  --json prints the plan, what was created, or the differences as JSON.
  Cluster, prefix, partitions and copies come from stores.kafka. The embedded log needs none of this.
`;

export interface TopicsCommand {
  readonly loaded: () => Loaded;
  /** Arguments after `conclave topics`. */
  readonly args: readonly string[];
  readonly out: { write(text: string): unknown };
  readonly terminal: { write(text: string): unknown };
}

/** Returns the exit code. Throws LOG_UNAVAILABLE; errors of parseArgs about unknown options pass through. */
export async function topicsCommand({ loaded: load, args, out, terminal }: TopicsCommand): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      principal: { type: 'string', default: 'User:conclave' },
      'command-config': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [verb, ...more] = positionals;
  if (values.help) {
    out.write(typed(topicsHelp));
    return exitCodes.answered;
  }
  if ((verb !== 'plan' && verb !== 'create' && verb !== 'check') || more.length > 0) {
    const why = verb === undefined ? 'A command for topics is missing.' : `There is no command "topics ${positionals.join(' ')}".`;
    terminal.write(typed(`${why}\n\n${topicsHelp}`));
    return exitCodes.usage;
  }
  const loaded = load();
  const logger = openLogger({ level: loaded.environment.LOG_LEVEL, sinks: [terminalLines(terminal)], fields: {} });
  const topics = await kafkaTopics(loaded, logger);
  const say = (json: unknown, text: string): unknown => out.write(values.json ? `${JSON.stringify(json, null, 2)}\n` : typed(text));
  if (!topics) {
    const sentence = `Nothing is needed: without stores.kafka the event log is a table in the data folder ${loaded.home}.`;
    say({ mode: 'embedded', topics: [] }, `${sentence}\n`);
    return exitCodes.answered;
  }
  const { planned, where } = topics;
  switch (verb) {
    case 'plan': {
      const commandConfig = values['command-config'];
      const commands = topics.commands({ principal: values.principal, ...(commandConfig ? { commandConfig } : {}) });
      const head = [
        `# ${planned.length} topics for ${where}: partitions x copies`,
        ...planned.map(({ name, partitions, replication, spec }) => `#   ${name}: ${partitions} x ${replication}, ${spec.doc}`),
        '',
      ];
      const plain = commands.filter((line) => line !== '' && !line.startsWith('#'));
      say({ topics: planned, commands: plain }, `${[...head, ...commands].join('\n')}\n`);
      return exitCodes.answered;
    }
    case 'create': {
      const created = await topics.create();
      const lines = [
        ...created.map((name) => `created ${name}`),
        `${created.length} of ${planned.length} topics were missing on ${where}; all exist now. \`conclave topics check\` compares their settings.`,
      ];
      say({ created }, `${lines.join('\n')}\n`);
      return exitCodes.answered;
    }
    case 'check': {
      const differences = await topics.differences();
      const count = `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'} on ${where}.`;
      const verdict = differences.length === 0 ? `All ${planned.length} topics on ${where} match the plan.` : count;
      say({ differences }, `${[...differences, verdict].join('\n')}\n`);
      return differences.length === 0 ? exitCodes.answered : exitCodes.failed;
    }
  }
}
