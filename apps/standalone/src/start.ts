import { Failure } from '@conclave/contracts';
import { loadConfiguration, outliveReaders, type Loaded, type OpenProbe } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ask, exitCodes, questionFrom } from './commands/ask.js';
import { auditCommand } from './commands/audit.js';
import { backupCommand, restoreCommand } from './commands/backup.js';
import { deadCommand } from './commands/dead.js';
import { doctorCommand } from './commands/doctor.js';
import { forkCommand } from './commands/fork.js';
import { GatewayRefusal } from './commands/gateway-client.js';
import { keysCommand } from './commands/keys.js';
import { rerunCommand, versusCommand } from './commands/rerun.js';
import { recoverCommand } from './commands/recover.js';
import { replayCommand } from './commands/replay.js';
import { optionCommand, sendCommand } from './commands/run-control.js';
import { runCommand } from './commands/run.js';
import { findGateway } from './commands/running-gateway.js';
import { printRuns } from './commands/runs.js';
import { templatesCommand } from './commands/templates.js';
import { tenantsCommand } from './commands/tenants.js';
import { readable } from './commands/terminal-look.js';
import { topicsCommand } from './commands/topics.js';
import { up } from './commands/up.js';
import { typed } from './commands/typed.js';
import { meant, numberOf, readArguments, UsageMistake } from './commands/usage.js';
import { watch } from './commands/watch.js';
import { version } from './version.js';

const help = `conclave: a committee of models behind an OpenAI-compatible API

  npm start                            everything in one process, on http://127.0.0.1:8080
      --lan                            also for other machines, with a new key; prints how to connect Open WebUI
  npm run ask -- "question"            one question, live progress; starts an embedded gateway if none is running
      --model <template or model>      conclave by default; GET /v1/models lists them
      --versus <template or model>     asks both, and shows them side by side
      --quiet                          only the answer, without progress
      --json                           the outcome as one JSON object
      --no-cache                       neither reads nor fills the caches
  npm run conclave -- runs             the newest runs (--limit n, --json)
  npm run conclave -- run <id>         one run: plan, tasks, decisions, answer, cost; its events if no gateway is running
      --json                           as returned by its gateway
      --timeline                       also the time of each event; follows a run that has not ended
      --watch                          shows it live and takes commands from the keyboard: pause, resume, steer, add,
                                       override, answer, cancel; without a terminal, plain lines
      --pause --resume --cancel        sends one command, and says whether it was applied or rejected; also
                                       --steer <text>, --add-context <text>, --answer <text>,
                                       --override-step <skill> --input <text>
      --facts                          every fact the engine found, a sentence each, with its step
  npm run conclave -- replay <id>      every event of a run in the order of the log: Kafka if stores.kafka is set,
                                       the data folder of a stopped server otherwise
      --recorded                       repeats all its decisions (steps, plans, tasks, answer) with today's code and the
                                       recorded replies, without any call, and shows the first prompt, reply or rule
                                       that differs; exit code 1 then, and if a recording is incomplete
      --all --recorded                 the same for every recorded run
      --fork <step>                    continues the run after this step as a new run: the same facts up to there, live
                                       from then on; shows both side by side. \`run <id> --facts\` numbers the steps
      --model <model or template>      makes the calls of the fork; today's models of its template by default
      --json                           both as one JSON object
      --template <id>                  asks its question again with another template, live, as a new run; shows both side by side
  npm run conclave -- recover          rebuilds a state store that is empty or older than the log: open runs, journal, timers
      --force                          even if the store matches the log, or processes use it
  npm run conclave -- audit            who did what: export as signed, hash-chained lines; verify (--help)
  npm run conclave -- backup --to <p>  a consistent copy of the data folder, also while the server runs; <p> is a new folder, or a
                                       file that ends in .tgz. With Kafka: settings, keys and prompts of the state store
  npm run conclave -- restore <p>      restores a backup; --force even if there is data, which is moved aside
  npm run conclave -- doctor           checks what Conclave needs here, and says what to fix (--json)
  npm run conclave -- dead             records that could not be handled: list, show, redrive, discard (--help)
  npm run conclave -- keys             API keys: create, list, show, change, expire, revoke, rotate (--help)
  npm run conclave -- tenants          limits of all keys of a tenant together: list, set (--help)
  npm run conclave -- templates        what clients choose as model: list, show, validate, diff, apply (--help)
  npm run conclave -- topics           what Kafka needs: plan, create, check (--help)

  npm run conclave -- version          the version; \`help\` shows this page, and --help after a command its part

Settings: conclave.yaml and environment, see docs/generated/configuration.md. CONCLAVE_URL names the gateway to talk to.
`;

const load = (variables: Readonly<Record<string, string>> = {}): Loaded =>
  loadConfiguration({ ...process.env, ...variables }, process.cwd(), { categories: Object.keys(expertPrompts) });

/** The configuration, with the extensions' strategies and capabilities registered, for commands that decide or replay runs. */
async function extended(variables: Readonly<Record<string, string>> = {}): Promise<Loaded> {
  const loaded = load(variables);
  const { configuration } = loaded;
  if (configuration.extensions.length > 0) await (await import('@conclave/extensions')).loadExtensions(configuration);
  return loaded;
}

async function runningGateway() {
  const client = await findGateway(load());
  if (!client) throw new GatewayRefusal('No gateway runs here. Start one with `npm start`, or name one with CONCLAVE_URL.');
  return client;
}

const commands = [
  'up',
  'start',
  'serve',
  'ask',
  'runs',
  'run',
  'replay',
  'recover',
  'audit',
  'doctor',
  'backup',
  'restore',
  'dead',
  'keys',
  'tenants',
  'templates',
  'topics',
  'version',
  'help',
] as const;

/** The help lines of one command, or the whole page if it has none. */
function helpOf(command: string): string {
  if (command === '') return help;
  const lines = help.split('\n');
  const heads = lines.flatMap((line, at) => (/^ {2}npm /.test(line) ? [at] : []));
  const own = heads.filter((at) => new RegExp(`^ {2}npm (?:run conclave -- ${command}\\b|run ${command}\\b)`).test(lines[at]!));
  if (own.length === 0) return help;
  const end = (at: number): number => heads.find((next) => next > at) ?? lines.indexOf('', at);
  return `${own.map((at) => lines.slice(at, end(at)).join('\n')).join('\n')}\n`;
}

const out = readable(process.stdout);
const terminal = readable(process.stderr);

/** Commands that read their own arguments. */
const commandsWithArguments: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  audit: (args) => auditCommand({ loaded: () => load(), args, input: process.stdin, out: process.stdout, terminal, signal: givenUp() }),
  backup: (args) => backupCommand({ loaded: () => load(), args, out, terminal }),
  restore: (args) => restoreCommand({ loaded: () => load(), args, out, terminal }),
  doctor: (args) => doctorCommand({ loaded: () => load(), args, out }),
  dead: (args) => deadCommand({ loaded: () => load(), args, out, terminal }),
  keys: (args) => keysCommand({ gateway: runningGateway, args, out, terminal }),
  tenants: (args) => tenantsCommand({ gateway: runningGateway, args, out, terminal }),
  templates: (args) =>
    templatesCommand({
      gateway: runningGateway,
      load: (file) => extended({ CONCLAVE_CONFIG: file }),
      args,
      out,
      terminal,
    }),
  topics: (args) => topicsCommand({ loaded: () => load(), args, out, terminal }),
};

/** Returns the exit code; undefined if the process keeps running. */
async function main(openProbe: OpenProbe | undefined): Promise<number | undefined> {
  const [first = '', ...args] = process.argv.slice(2);
  if (Object.hasOwn(commandsWithArguments, first)) return commandsWithArguments[first]!(args);
  const { positionals, values } = readArguments(process.argv.slice(2), {
    model: { type: 'string', short: 'm' },
    fork: { type: 'string' },
    template: { type: 'string' },
    versus: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    recorded: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    force: { type: 'boolean', default: false },
    lan: { type: 'boolean', default: false },
    timeline: { type: 'boolean', default: false },
    facts: { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
    pause: { type: 'boolean' },
    resume: { type: 'boolean' },
    cancel: { type: 'boolean' },
    steer: { type: 'string' },
    'add-context': { type: 'string' },
    answer: { type: 'string' },
    'override-step': { type: 'string' },
    input: { type: 'string' },
    'no-cache': { type: 'boolean', default: false },
    quiet: { type: 'boolean', short: 'q', default: false },
    json: { type: 'boolean', default: false },
    limit: { type: 'string' },
    version: { type: 'boolean' },
  });
  const [command = 'up', ...rest] = positionals;
  if (values.version || command === 'version') return (process.stdout.write(`conclave ${version}\n`), 0);
  if (values.help || command === 'help') return (process.stdout.write(helpOf(values.help ? command : (rest[0] ?? ''))), 0);
  if (command !== 'up' && command !== 'start' && command !== 'serve') endWithReader();
  switch (command) {
    case 'up':
    case 'start':
    case 'serve':
      outliveReaders();
      await up({ loaded: await extended(), out: process.stdout, terminal: process.stderr, endOnSignals: true, lan: values.lan, openProbe });
      return undefined;
    case 'ask': {
      const question = await questionFrom(rest, process.stdin);
      if (!question) throw new UsageMistake('Say what to ask: npm run ask -- "question"');
      if (values.versus !== undefined)
        return versusCommand({
          ...{ loaded: await extended(), question, models: [values.model ?? 'conclave', values.versus], json: values.json },
          ...{ out, terminal: values.quiet ? silent : terminal, signal: givenUp() },
        });
      return ask({
        ...{ loaded: await extended(), question, model: values.model ?? 'conclave', cache: !values['no-cache'], json: values.json },
        ...{ answer: process.stdout, progress: values.quiet ? silent : process.stderr, signal: givenUp() },
        ...(values.quiet ? { failures: process.stderr } : {}),
      });
    }
    case 'runs':
      await printRuns(await runningGateway(), out, { json: values.json, limit: numberOf('limit', values.limit, 1, 100) });
      return 0;
    case 'run':
      if (!rest[0] || rest.length > 1)
        throw new UsageMistake('Name one run by its id: npm run conclave -- run <id>. `runs` lists the newest.');
      {
        const command = optionCommand(values);
        if (command) return sendCommand(await runningGateway(), rest[0], command, out);
        if (values.watch) return watch({ client: await runningGateway(), runId: rest[0], input: process.stdin, out: process.stdout });
      }
      return runCommand({
        loaded: await extended(),
        runId: rest[0],
        timeline: values.timeline,
        facts: values.facts,
        json: values.json,
        out,
        terminal,
      });
    case 'replay': {
      const [runId = null, ...more] = rest;
      if (more.length > 0 || (values.all ? runId !== null || !values.recorded : runId === null))
        throw new UsageMistake('Name one run by its id: npm run conclave -- replay <id>, or all with --all --recorded.');
      const step = numberOf('fork', values.fork, 1, Number.MAX_SAFE_INTEGER);
      if (step !== undefined && (runId === null || values.recorded))
        throw new UsageMistake('A fork continues one run, live: npm run conclave -- replay <id> --fork <step>.');
      if (values.template !== undefined && (runId === null || values.recorded || step !== undefined))
        throw new UsageMistake('--template asks the question of one run again, live: npm run conclave -- replay <id> --template <id>.');
      if (values.template !== undefined)
        return rerunCommand({
          ...{ loaded: await extended(), runId: runId!, template: values.template, json: values.json },
          ...{ out, terminal: values.quiet ? silent : terminal, signal: givenUp() },
        });
      if (step === undefined && values.model !== undefined)
        throw new UsageMistake('--model names the model that makes the calls of a fork: name the step of the fork with --fork.');
      if (step !== undefined)
        return forkCommand({
          ...{ loaded: await extended(), runId: runId!, step, model: values.model ?? null, json: values.json },
          ...{ out, terminal: values.quiet ? silent : terminal, signal: givenUp() },
        });
      return replayCommand({ loaded: await extended(), runId, recorded: values.recorded, out, terminal });
    }
    case 'recover': {
      const stop = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
      const { force } = values;
      return recoverCommand({ loaded: await extended(), force, out, terminal, signal: stop.signal });
    }
    default: {
      const near = meant(command, commands);
      throw new UsageMistake(`There is no command "${command}".${near ? ` Did you mean "${near}"?` : ''} \`conclave help\` lists all.`);
    }
  }
}

const silent = { write: () => undefined };

/** Aborts at the first signal to end; the second one ends the process. */
function givenUp(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (): void => (stop.signal.aborted ? process.exit(exitCodes.cancelled) : stop.abort());
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return stop.signal;
}

/** Ends silently when the reader of the output closes it, as in `runs | head`. */
const endWithReader = (): unknown =>
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 1));

/** Runs the command given by the arguments and exits with its code; a server runs until a signal. Only tests pass a probe. */
export async function start(openProbe?: OpenProbe): Promise<void> {
  try {
    const code = await main(openProbe);
    if (code !== undefined) process.exit(code);
  } catch (error) {
    const isUsage = error instanceof UsageMistake;
    const isKnown = error instanceof Failure || error instanceof GatewayRefusal || isUsage;
    terminal.write(`${error instanceof Error ? (isKnown ? typed(error.message) : (error.stack ?? error.message)) : String(error)}\n`);
    process.exit(isUsage ? exitCodes.usage : exitCodes.failed);
  }
}
