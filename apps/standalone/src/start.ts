import { parseArgs } from 'node:util';
import { Failure } from '@conclave/contracts';
import { loadConfiguration, outliveReaders, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ask, exitCodes, questionFrom } from './commands/ask.js';
import { deadCommand } from './commands/dead.js';
import { GatewayRefusal } from './commands/gateway-client.js';
import { recoverCommand } from './commands/recover.js';
import { replayCommand } from './commands/replay.js';
import { runCommand } from './commands/run.js';
import { findGateway } from './commands/running-gateway.js';
import { printRuns } from './commands/runs.js';
import { topicsCommand } from './commands/topics.js';
import { up } from './commands/up.js';

const help = `conclave: a committee of models behind an OpenAI-compatible API

  npm start                            everything in one process, on http://127.0.0.1:8080
      --lan                            for other machines too, with a key that is made for them; says how Open WebUI uses it
  npm run ask -- "question"            one question, live progress; starts an embedded gateway when none runs
      --model <template or model>      conclave unless given; GET /v1/models lists them
      --no-cache                       asks anew what was answered before, and keeps nothing of it in a cache
  npm run conclave -- runs             the newest runs
  npm run conclave -- run <id>         one run: plan, tasks, decisions, answer, cost; its events where no gateway runs
      --timeline                       also what happened when; follows a run that has not ended
  npm run conclave -- replay <id>      every event of a run in the order of the log: Kafka where stores.kafka is set,
                                       the data folder of a stopped server otherwise
      --recorded                       drives all that was decided in it (steps, plans, tasks, answer) through today's
                                       code with the recorded replies, without any call, and shows the first prompt,
                                       reply or rule that differs; exit code 1 then, and where a recording is not whole
      --all --recorded                 the same for every recorded run
  npm run conclave -- recover          rebuilds a state store that is empty or older than the log: open runs, journal, timers
      --force                          also where the store fits the log or processes live on it
  npm run conclave -- dead             records that could not be handled: list, show, redrive, discard (--help)
  npm run conclave -- topics           what Kafka needs: plan, create, check (--help)

Settings: conclave.yaml and environment, see docs/generated/configuration.md. CONCLAVE_URL names the gateway to talk to.
`;

const load = (): Loaded => loadConfiguration(process.env, process.cwd(), { categories: Object.keys(expertPrompts) });

async function runningGateway() {
  const client = await findGateway(load());
  if (!client) throw new GatewayRefusal('No gateway runs here. Start one with `npm start`, or name one with CONCLAVE_URL.');
  return client;
}

/** Commands that read their own arguments. */
const commandsWithArguments: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  dead: (args) => deadCommand({ loaded: load, args, out: process.stdout, terminal: process.stderr }),
  topics: (args) => topicsCommand({ loaded: load, args, out: process.stdout, terminal: process.stderr }),
};

/** Gives the exit code; undefined where the process goes on. */
async function main(): Promise<number | undefined> {
  const [first = '', ...args] = process.argv.slice(2);
  if (Object.hasOwn(commandsWithArguments, first)) return commandsWithArguments[first]!(args);
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      model: { type: 'string', short: 'm', default: 'conclave' },
      help: { type: 'boolean', short: 'h' },
      recorded: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
      lan: { type: 'boolean', default: false },
      timeline: { type: 'boolean', default: false },
      'no-cache': { type: 'boolean', default: false },
    },
  });
  const [command = 'up', ...rest] = positionals;
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  switch (command) {
    case 'up':
      outliveReaders();
      await up({ loaded: load(), out: process.stdout, terminal: process.stderr, endOnSignals: true, lan: values.lan });
      return undefined;
    case 'ask': {
      const question = await questionFrom(rest, process.stdin);
      if (!question) break;
      const stop = new AbortController();
      const onSignal = (): void => (stop.signal.aborted ? process.exit(exitCodes.cancelled) : stop.abort());
      process.on('SIGINT', onSignal);
      process.on('SIGTERM', onSignal);
      return ask({
        ...{ loaded: load(), question, model: values.model, cache: !values['no-cache'] },
        ...{ answer: process.stdout, progress: process.stderr, signal: stop.signal },
      });
    }
    case 'runs':
      await printRuns(await runningGateway(), process.stdout);
      return 0;
    case 'run':
      if (!rest[0] || rest.length > 1) break;
      return runCommand({ loaded: load(), runId: rest[0], timeline: values.timeline, out: process.stdout, terminal: process.stderr });
    case 'replay': {
      const [runId = null, ...more] = rest;
      if (more.length > 0 || (values.all ? runId !== null || !values.recorded : runId === null)) break;
      return replayCommand({ loaded: load(), runId, recorded: values.recorded, out: process.stdout, terminal: process.stderr });
    }
    case 'recover': {
      const stop = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
      const { force } = values;
      return recoverCommand({ loaded: load(), force, out: process.stdout, terminal: process.stderr, signal: stop.signal });
    }
    default:
      process.stderr.write(`There is no command "${command}".\n\n`);
  }
  process.stderr.write(help);
  return exitCodes.usage;
}

/** Runs the command that the arguments name and ends the process with its exit code; a server goes on until a signal. */
export async function start(): Promise<void> {
  try {
    const code = await main();
    if (code !== undefined) process.exit(code);
  } catch (error) {
    const isUsage = (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS');
    const isKnown = error instanceof Failure || error instanceof GatewayRefusal || isUsage;
    process.stderr.write(`${error instanceof Error ? (isKnown ? error.message : (error.stack ?? error.message)) : String(error)}\n`);
    process.exit(isUsage ? exitCodes.usage : exitCodes.failed);
  }
}
