import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ModelList, TemplateView } from '@conclave/contracts';
import { resolveTemplates, type Loaded } from '@conclave/platform';
import { declaredCapabilities, expertPrompts, strategies } from '@conclave/strategies';
import { exitCodes } from './ask.js';
import type { GatewayClient } from './gateway-client.js';
import { asJson, type AdminCommand } from './keys.js';
import { typed } from './typed.js';
import { readArguments, UsageMistake } from './usage.js';

export const templatesHelp = `conclave templates: what clients choose as model

  conclave templates list              ids that the running gateway offers
  conclave templates show <id>         its strategy, its options, and what was changed while it runs
  conclave templates validate <file>   checks a conclave.yaml with its templates and extensions, as a start does;
                                       needs no gateway
  conclave templates diff <id> <file>  options of a file (a JSON object) against those that new runs get; exit code 1 if they differ
  conclave templates apply <id> <file> sets them while the gateway runs; {} goes back to conclave.yaml
      --version <n>                    refused if it was changed since this version, which \`show\` prints
  conclave templates rollback <id>     goes back to the options before the last change, or to those of --version <n>

  --json prints what the API answers. Needs an admin key of the tenant default (as \`conclave keys --help\` says), except for validate.
`;

export interface TemplatesCommand extends AdminCommand {
  /** Loads this file and its extensions as a start does. Throws CONFIGURATION_INVALID with every mistake. */
  readonly load: (file: string) => Promise<Pick<Loaded, 'configuration'>>;
}

const verbs = { list: 0, show: 1, validate: 1, diff: 2, apply: 2, rollback: 1 } as const;
const path = (id: string): string => `/v1/admin/templates/${encodeURIComponent(id)}`;

/** Returns the exit code. Throws UsageMistake, GatewayRefusal, CONFIGURATION_INVALID. */
export async function templatesCommand({ gateway, load, args, out, terminal }: TemplatesCommand): Promise<number> {
  const { positionals, values } = readArguments(args, {
    version: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  const [verb = '', ...rest] = positionals;
  if (values.help) return (out.write(typed(templatesHelp)), exitCodes.answered);
  if (!Object.hasOwn(verbs, verb)) {
    terminal.write(
      `${verb === '' ? 'A command for templates is missing.' : `There is no command "templates ${verb}".`}\n\n${templatesHelp}`,
    );
    return exitCodes.usage;
  }
  if (rest.length !== verbs[verb as keyof typeof verbs])
    throw new UsageMistake(`\`templates ${verb}\` needs other words: see \`templates --help\`.`);
  if (values.version !== undefined && ((verb !== 'apply' && verb !== 'rollback') || !/^\d{1,9}$/.test(values.version)))
    throw new UsageMistake('--version is a whole number, for `templates apply` and `templates rollback`.');
  const [id = '', file = ''] = rest;
  if (verb === 'validate') {
    const ids = templatesIn(await load(id));
    out.write(
      values.json
        ? asJson({ file: id, templates: ids })
        : `${id} has no mistake: ${ids.length === 0 ? 'no template of its own' : ids.join(', ')}.\n`,
    );
    return exitCodes.answered;
  }
  const options = file === '' ? {} : optionsIn(file);
  const client = await gateway();
  if (verb === 'list') {
    const { data } = ModelList.parse(await client.json('GET', '/v1/models'));
    const offered = data.filter(({ owned_by: owner }) => owner === 'conclave');
    out.write(values.json ? asJson(offered) : offered.map((template) => `${template.id}\n`).join(''));
    return exitCodes.answered;
  }
  if (verb === 'diff') return diff(await viewOf(client, id), options, out, values.json);
  const version = values.version === undefined ? {} : { version: Number(values.version) };
  const view =
    verb === 'show'
      ? await viewOf(client, id)
      : TemplateView.parse(
          verb === 'rollback'
            ? await client.json('POST', `${path(id)}/rollback`, version)
            : await client.json('PUT', path(id), { options, ...version }),
        );
  out.write(values.json ? asJson(view) : textOf(view));
  return exitCodes.answered;
}

/** Names of the templates of a configuration. Throws CONFIGURATION_INVALID if a start would refuse one. No model server is asked. */
function templatesIn({ configuration }: Pick<Loaded, 'configuration'>): readonly string[] {
  resolveTemplates({
    configuration,
    ...{ models: [], providers: [], offers: { tools: [], collections: [], prompts: {} }, canSearch: true, canRecall: true },
    ...{ expertPrompts, strategies: strategies(), capabilities: declaredCapabilities() },
  });
  return Object.keys(configuration.templates);
}

const viewOf = async (client: GatewayClient, id: string): Promise<TemplateView> => TemplateView.parse(await client.json('GET', path(id)));

/** Options in a file. Throws UsageMistake. */
function optionsIn(file: string): Readonly<Record<string, unknown>> {
  if (!existsSync(file)) throw new UsageMistake(`There is no file ${file}.`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageMistake(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageMistake(`${file} must hold a JSON object of options.`);
  return value as Readonly<Record<string, unknown>>;
}

function diff(view: TemplateView, options: Readonly<Record<string, unknown>>, out: AdminCommand['out'], json: boolean): number {
  const present = view.options ?? {};
  const differing = Object.entries(options).filter(([name, value]) => !isDeepStrictEqual(present[name], value));
  if (json) out.write(asJson(Object.fromEntries(differing.map(([name, value]) => [name, { now: present[name] ?? null, then: value }]))));
  else if (differing.length === 0) out.write('No option differs.\n');
  else
    out.write(
      differing
        .map(([name, value]) => `- ${name}: ${JSON.stringify(present[name] ?? null)}\n+ ${name}: ${JSON.stringify(value)}\n`)
        .join(''),
    );
  return differing.length === 0 ? exitCodes.answered : exitCodes.failed;
}

const textOf = ({ id, strategy, version, options, changed, settings }: TemplateView): string =>
  `${id}: ${strategy}, version ${version}\n  options  ${JSON.stringify(options)}\n  changed  ${JSON.stringify(changed)}\n` +
  (Object.keys(settings).length > 0 ? `  settings ${JSON.stringify(settings)}\n` : '');
