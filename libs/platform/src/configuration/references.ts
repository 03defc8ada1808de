import {
  choiceOf,
  demoProvider,
  discoveredProviders,
  environmentProvider,
  evidenceCapabilities,
  nearest,
  shippedStrategies,
  retainedTopics,
  shippedTemplates,
  topicsFor,
  type Configuration,
  type TemplateSettings,
  type WebhookSettings,
} from '@conclave/contracts';
import { providerNameOf } from '@conclave/ports';
import { outlivingAudit } from '../process/store-identity.js';

/** A mistake before its line is known. */
export interface PathProblem {
  readonly path: readonly PropertyKey[];
  readonly atKey?: boolean;
  readonly problem: string;
  readonly remedy: string;
}

/** Dangling references and contradictory settings, which a schema of single values cannot detect. */
export function checkReferences(configuration: Configuration): readonly PathProblem[] {
  const providers = [...new Set([...Object.keys(configuration.providers), environmentProvider, demoProvider, ...discoveredProviders])];
  const checkModel = (ref: string, path: readonly PropertyKey[], atKey = false): PathProblem[] => {
    const provider = providerNameOf(ref);
    if (providers.includes(provider)) return [];
    const near = nearest(provider, providers);
    return [
      {
        path,
        atKey,
        problem: `no provider is called \`${provider}\`.`,
        remedy: near ? `Did you mean \`${near}\`?` : 'Add it under `providers`.',
      },
    ];
  };
  return [
    ...Object.keys(configuration.models).flatMap((ref) => checkModel(ref, ['models', ref], true)),
    ...Object.entries(configuration.templates).flatMap(([id, template]) => checkTemplate(['templates', id], template, checkModel)),
    ...checkAliases(configuration, checkModel),
    ...checkSplits(configuration),
    ...checkNames(configuration),
    ...checkRetentions(configuration),
    ...checkStores(configuration),
    ...checkProviders(configuration),
    ...checkKeys(configuration),
    ...checkWebhooks(configuration),
    ...checkClasses(configuration),
  ];
}

type CheckModel = (ref: string, path: readonly PropertyKey[]) => PathProblem[];

function checkTemplate(path: readonly PropertyKey[], template: TemplateSettings, checkModel: CheckModel): PathProblem[] {
  const roles = (['planner', 'judge'] as const).flatMap((role) => {
    const { model, models } = template[role];
    const both: PathProblem[] =
      model && models
        ? [{ path: [...path, role, 'models'], problem: '`model` and `models` are both set.', remedy: 'Keep one of the two.' }]
        : [];
    return [
      ...both,
      ...(model ? checkModel(model, [...path, role, 'model']) : []),
      ...(models ?? []).flatMap((ref, i) => checkModel(ref, [...path, role, 'models', i])),
    ];
  });
  const experts = Object.entries(template.experts).flatMap(([category, expert]) =>
    (['t1', 't2', 'always'] as const).flatMap((tier) =>
      (expert[tier] ?? []).flatMap((ref, i) => checkModel(ref, [...path, 'experts', category, tier, i])),
    ),
  );
  const rounds: PathProblem[] =
    template.strategy === 'single-pass' && template.max_agentic_rounds > 0
      ? [
          {
            path: [...path, 'max_agentic_rounds'],
            problem: '`single-pass` makes no re-plans.',
            remedy: 'Use `strategy: agentic`, or leave this out.',
          },
        ]
      : [];
  return [...roles, ...experts, ...rounds, ...(template.tool_model ? checkModel(template.tool_model, [...path, 'tool_model']) : [])];
}

function checkAliases(configuration: Configuration, checkModel: CheckModel): PathProblem[] {
  const templates = [...new Set([...Object.keys(configuration.templates), ...shippedTemplates])];
  const checkListed = (ref: string, path: readonly PropertyKey[]): PathProblem[] => {
    if (/^\S+@[^\s@]+$/.test(ref)) return checkModel(ref, path);
    const isTemplate = templates.includes(ref);
    return [
      {
        path,
        problem: isTemplate ? `\`${ref}\` is a template, and cannot be one of several.` : `\`${ref}\` is not a model of a provider.`,
        remedy: `Write model@provider${isTemplate ? ', or make this template the only target of the alias' : ''}.`,
      },
    ];
  };
  return Object.entries(configuration.aliases).flatMap(([alias, target]): PathProblem[] => {
    const path = ['aliases', alias];
    if (templates.includes(alias))
      return [{ path, atKey: true, problem: 'a template has this name already.', remedy: 'Choose another name for the alias.' }];
    if (typeof target !== 'string')
      return choiceOf(target)!.models.flatMap((ref, i) => checkListed(ref, [...path, ...(Array.isArray(target) ? [] : ['models']), i]));
    if (templates.includes(target) || (target.includes('@') && checkModel(target, path).length === 0)) return [];
    const near = nearest(target, templates);
    return [
      {
        path,
        problem: `no template or model is called \`${target}\`.`,
        remedy: near ? `Did you mean \`${near}\`?` : `Templates: ${templates.join(', ')}.`,
      },
    ];
  });
}

/** Unknown strategies and capabilities. Those of extensions are unknown until they are loaded: templates are checked again then. */
function checkNames({ templates, extensions }: Configuration): PathProblem[] {
  if (extensions.length > 0) return [];
  const check = (what: string, plural: string, name: string, known: readonly string[], path: readonly PropertyKey[]): PathProblem[] => {
    if (known.includes(name)) return [];
    const near = nearest(name, known);
    const remedy = `${near ? `Did you mean \`${near}\`? ` : ''}${plural}: ${known.join(', ')}. One of your own needs its module under \`extensions\`.`;
    return [{ path, problem: `there is no ${what} \`${name}\`.`, remedy }];
  };
  return Object.entries(templates).flatMap(([id, { strategy, capabilities }]) => [
    ...check('strategy', 'Strategies', strategy, shippedStrategies, ['templates', id, 'strategy']),
    ...capabilities.flatMap((name, i) =>
      check('capability', 'Capabilities', name, evidenceCapabilities, ['templates', id, 'capabilities', i]),
    ),
  ]);
}

function checkSplits({ templates }: Configuration): PathProblem[] {
  const known = [...new Set([...Object.keys(templates), ...shippedTemplates])];
  return Object.entries(templates).flatMap(([id, { split }]): PathProblem[] => {
    if (!split || (known.includes(split.template) && split.template !== id)) return [];
    const path = ['templates', id, 'split', 'template'];
    if (split.template === id)
      return [{ path, problem: 'a template cannot be the other arm of its own split.', remedy: 'Name another template.' }];
    const near = nearest(split.template, known);
    const remedy = near ? `Did you mean \`${near}\`?` : `Templates: ${known.join(', ')}.`;
    return [{ path, problem: `no template is called \`${split.template}\`.`, remedy }];
  });
}

/** Unknown topics, and an audit that expires before the records it explains. */
function checkRetentions(configuration: Configuration): PathProblem[] {
  const unknown = Object.keys(configuration.retention).flatMap((topic): PathProblem[] => {
    if (retainedTopics.includes(topic)) return [];
    const near = nearest(topic, retainedTopics);
    const remedy = near ? `Did you mean \`${near}\`?` : `Known: ${retainedTopics.join(', ')}.`;
    return [{ path: ['retention', topic], atKey: true, problem: `no topic is called \`${topic}\`.`, remedy }];
  });
  const longer = outlivingAudit(topicsFor(undefined, configuration).filter(({ compacted }) => !compacted));
  if (longer.length === 0) return unknown;
  return [
    ...unknown,
    {
      path: ['retention'],
      problem: `the audit is kept for a shorter time than ${longer.join(', ')}: \`recover\` would restart runs whose audit is gone.`,
      remedy: 'Raise `audit`, or lower the days of the others.',
    },
  ];
}

function checkStores({ stores, search }: Configuration): PathProblem[] {
  const sasl = stores.kafka?.sasl;
  const { blobs } = stores;
  return [
    ...(blobs && (blobs.folder === undefined) === (blobs.s3 === undefined)
      ? [{ path: ['stores', 'blobs'], problem: 'it has either `folder` or `s3`.', remedy: 'Keep one of the two.' }]
      : []),
    ...(stores.redis?.cluster && stores.redis.sentinel
      ? [{ path: ['stores', 'redis', 'sentinel'], problem: 'a Redis Cluster has no sentinels.', remedy: 'Remove `cluster` or `sentinel`.' }]
      : []),
    ...(search.searxng && search.corpus
      ? [{ path: ['search', 'corpus'], problem: '`searxng` and `corpus` are both set.', remedy: 'Keep one of the two.' }]
      : []),
    ...(sasl?.mechanism && !(sasl.user_env && sasl.password_env)
      ? [
          {
            path: ['stores', 'kafka', 'sasl'],
            problem: 'a mechanism needs a user and a password.',
            remedy: 'Name their environment variables with `user_env` and `password_env`.',
          },
        ]
      : []),
    ...(sasl && !sasl.mechanism && (sasl.user_env ?? sasl.password_env)
      ? [
          {
            path: ['stores', 'kafka', 'sasl'],
            problem: 'a user without a mechanism has no effect.',
            remedy: 'Add `mechanism: plain`, `scram-sha-256` or `scram-sha-512`.',
          },
        ]
      : []),
  ];
}

const checkProviders = ({ providers }: Configuration): PathProblem[] =>
  Object.entries(providers).flatMap(([name, provider]): PathProblem[] => {
    if (name === demoProvider)
      return [
        {
          path: ['providers', name],
          atKey: true,
          problem: 'this name belongs to the built-in demo model.',
          remedy: 'Choose another name.',
        },
      ];
    return provider.api_key_env && provider.api_key_file
      ? [
          {
            path: ['providers', name, 'api_key_file'],
            problem: '`api_key_env` and `api_key_file` are both set.',
            remedy: 'Keep one of the two.',
          },
        ]
      : [];
  });

const checkKeys = ({ keys, access }: Configuration): PathProblem[] => [
  ...(access === 'open' && Object.keys(keys).length > 0
    ? [{ path: ['access'], problem: '`access: open` and `keys` are both set.', remedy: 'Keep one of the two.' }]
    : []),
  ...Object.entries(keys).flatMap(([name, { key_env: env, key_file: file }]): PathProblem[] => {
    const path = ['keys', name];
    if (env && file)
      return [{ path: [...path, 'key_file'], problem: '`key_env` and `key_file` are both set.', remedy: 'Keep one of the two.' }];
    if (env || file) return [];
    return [
      {
        path,
        atKey: true,
        problem: 'the key is missing.',
        remedy: 'Name an environment variable with `key_env`, or a file with `key_file`.',
      },
    ];
  }),
];

function checkClasses({ task_classes: classes }: Configuration): PathProblem[] {
  const owner = new Map<string, string>();
  return Object.entries(classes).flatMap(([name, { capabilities }]) =>
    capabilities.flatMap((capability, i): PathProblem[] => {
      const path = ['task_classes', name, 'capabilities', i];
      if (capability === 'judge' || capability.startsWith('judge.')) {
        return [{ path, problem: 'judge tasks belong to the process of the merger.', remedy: 'Leave it out.' }];
      }
      const other = owner.get(capability);
      owner.set(capability, name);
      return other === undefined
        ? []
        : [{ path, problem: `class \`${other}\` has this capability already.`, remedy: 'Keep it in one class.' }];
    }),
  );
}

/** A webhook has what its preset needs, each part once; every reference to a webhook names an existing one. */
function checkWebhooks({ webhooks, webhook_delivery: delivery, reasoning, templates }: Configuration): PathProblem[] {
  const names = Object.keys(webhooks);
  const deliveries: readonly (readonly [readonly PropertyKey[], unknown])[] = [
    [['reasoning', 'default_delivery'], reasoning.default_delivery],
    ...Object.entries(templates).map(
      ([id, { options }]) => [['templates', id, 'options', 'default_delivery'], options['default_delivery']] as const,
    ),
  ];
  const unknown = deliveries.flatMap(([path, listed]) =>
    (Array.isArray(listed) ? listed : []).flatMap((name: unknown, i): PathProblem[] => {
      if (name === 'memory' || names.includes(String(name))) return [];
      const near = nearest(String(name), names);
      const remedy = near ? `Did you mean \`${near}\`?` : 'Add it under `webhooks`, or leave it out.';
      return [{ path: [...path, i], problem: `no webhook is called \`${String(name)}\`.`, remedy }];
    }),
  );
  const unsigned: PathProblem[] =
    delivery.client_hosts.length > 0 && !delivery.client_secret_env && !delivery.client_secret_file
      ? [
          {
            path: ['webhook_delivery', 'client_hosts'],
            problem: 'deliveries to addresses of clients need a secret.',
            remedy: 'Name it with `client_secret_env` or `client_secret_file`.',
          },
        ]
      : [];
  return [...Object.entries(webhooks).flatMap(([name, webhook]) => checkWebhook(['webhooks', name], webhook)), ...unknown, ...unsigned];
}

function checkWebhook(path: readonly PropertyKey[], webhook: WebhookSettings): PathProblem[] {
  const { preset, url, chat_id: chat } = webhook;
  const address = [url, webhook.url_env, webhook.url_file].filter(Boolean).length;
  const secrets = [webhook.secret_env, webhook.secret_file].filter(Boolean).length;
  const tokens = [webhook.bot_token_env, webhook.bot_token_file].filter(Boolean).length;
  const missing = (what: string, remedy: string): PathProblem => ({ path, atKey: true, problem: `${what} is missing.`, remedy });
  return [
    ...(address === 0 && preset !== 'telegram' ? [missing('the address', 'Name it with `url`, `url_env` or `url_file`.')] : []),
    ...(secrets === 0 && preset === 'json'
      ? [missing('the secret for signatures', 'Name it with `secret_env` or `secret_file`; the receiver needs the same one.')]
      : []),
    ...(tokens === 0 && preset === 'telegram'
      ? [missing('the token of the bot', 'Name it with `bot_token_env` or `bot_token_file`.')]
      : []),
    ...(!chat && preset === 'telegram' ? [missing('the chat', 'Set `chat_id`.')] : []),
    ...(address > 1 || secrets > 1 || tokens > 1
      ? [{ path, atKey: true, problem: 'the same thing is named in several ways.', remedy: 'Keep one of each.' }]
      : []),
  ];
}
