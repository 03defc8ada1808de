import type { EventSpec } from '../event.js';
import { events } from '../events/index.js';
import { failures } from '../failures.js';
import { Configuration, type KeyRole, keyRoles } from '../configuration/configuration.js';
import { Environment } from '../configuration/environment.js';
import { expectation, shapeOf, type Shape } from '../configuration/shape.js';
import { accessKinds } from '../http/access.js';
import { routes } from '../http/routes.js';
import { topicsFor } from '../topics.js';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
const page = (title: string, from: string, ...parts: readonly string[]): string =>
  `# ${title}\n\nPrinted from \`${from}\` by \`npm run docs\`.\n\n${parts.join('\n\n')}\n`;

const all: readonly EventSpec[] = events;

export const eventTable = (): string =>
  page(
    'Events',
    'libs/contracts/src/events',
    table(
      ['Event', 'Topic', 'Key', 'From', 'To', 'Meaning'],
      all.map(({ type, topic, key, from, to, doc }) => [`\`${type}\``, `\`${topic}\``, key, from.join(', '), to.join(', '), doc]),
    ),
    '## Topics',
    table(
      ['Topic', 'Key', 'Kept', 'Holds'],
      topicsFor().map(({ name, key, retentionMs, compacted, doc }) => [
        `\`${name}\``,
        key,
        retentionMs < 0 ? 'for ever' : `${Math.round(retentionMs / 86_400_000)} days`,
        compacted ? `${doc} (compacted)` : doc,
      ]),
    ),
  );

/** Flow of events between services, for Mermaid. Leaves out audit events, which every service writes. */
export function flowDiagram(): string {
  const arrows = new Map<string, string[]>();
  for (const { type, from, to, topic } of all) {
    if (topic === 'audit') continue;
    for (const sender of from) {
      for (const receiver of to) {
        const arrow = `${sender} ${receiver}`;
        arrows.set(arrow, [...(arrows.get(arrow) ?? []), type]);
      }
    }
  }
  const lines = [...arrows].map(([arrow, types]) => {
    const [sender, receiver] = arrow.split(' ');
    return `  ${sender} -- "${types.join('<br/>')}" --> ${receiver}`;
  });
  return page(
    'Flow of events',
    'libs/contracts/src/events',
    ['```mermaid', 'flowchart LR', ...lines, '```'].join('\n'),
    'Every service writes to `audit` as well.',
  );
}

export const failureTable = (): string =>
  page(
    'Failures',
    'libs/contracts/src/failures.ts',
    table(
      ['Code', 'HTTP', 'OpenAI type', 'Again?', 'Outage', 'Paid', 'error_type', 'What happened and what to do'],
      Object.entries(failures).map(([code, { status, type, retriable, outage, paid, errorType, message }]) => [
        `\`${code}\``,
        String(status),
        `\`${type}\``,
        retriable ? 'yes' : 'no',
        outage ? 'yes' : '',
        paid ? 'yes' : '',
        `\`${errorType}\``,
        message,
      ]),
    ),
  );

export function accessTable(): string {
  const marks = (roles: readonly KeyRole[]): readonly string[] => keyRoles.map((role) => (roles.includes(role) ? 'yes' : ''));
  return page(
    'Who may use which route',
    'libs/contracts/src/http',
    'A key reaches only what belongs to its tenant; the rest does not exist for it (404). A role that a route does not accept is refused with 403. Prompts and raw replies are shown only to an auditor, an admin or a key with `detail: full`.',
    '## Kinds of routes',
    table(
      ['Kind', ...keyRoles, 'What such a route does'],
      Object.entries(accessKinds).map(([kind, { roles, doc }]) => [kind, ...marks(roles), doc]),
    ),
    '## Routes',
    table(
      ['Route', 'Kind', ...keyRoles],
      routes.map(({ method, path, access }) => [`\`${method} ${path.replace('+}', '}')}\``, access, ...marks(accessKinds[access].roles)]),
    ),
  );
}

const defaultText = (value: unknown): string => {
  if (value === undefined) return '';
  const text = JSON.stringify(value);
  return text === '{}' || text === '[]' || text === '""' || text.length > 60 ? '' : `\`${text}\``;
};

/** Every setting below a shape, parents before children. */
function settings(shape: Shape, path: string): readonly (readonly string[])[] {
  const options = shape.anyOf ?? [shape];
  return options.flatMap((one): readonly (readonly string[])[] => {
    const named = Object.entries(one.properties ?? {}).flatMap(([key, inner]) => settingRows(inner, path ? `${path}.${key}` : key));
    const free = typeof one.additionalProperties === 'object' ? settings(one.additionalProperties, `${path}.<name>`) : [];
    return [...named, ...free];
  });
}

function settingRows(shape: Shape, path: string): readonly (readonly string[])[] {
  const options = shape.anyOf ?? [shape];
  const isSection = options.some((one) => one.properties ?? typeof one.additionalProperties === 'object');
  const row = [
    `\`${path}\``,
    isSection && !shape.anyOf ? 'section' : expectation(options),
    defaultText(shape.default),
    shape.description ?? '',
  ];
  return [row, ...settings(shape, path)];
}

export const configurationTable = (): string =>
  page(
    'Configuration',
    'libs/contracts/src/configuration',
    'One file, `conclave.yaml`, looked for in `CONCLAVE_CONFIG`, then in the current folder, then in the data folder; and the environment. The file is optional. All mistakes are reported together, with their lines. `conclave.schema.json` beside this page is for editors.',
    '## conclave.yaml',
    table(['Setting', 'Value', 'Default', 'Meaning'], settings(shapeOf(Configuration), '')),
    '## Environment',
    table(
      ['Variable', 'Value', 'Default', 'Meaning'],
      Object.entries(shapeOf(Environment).properties ?? {}).map(([name, shape]) => [
        `\`${name}\``,
        expectation(shape.anyOf ?? [shape]),
        defaultText(shape.default),
        shape.description ?? '',
      ]),
    ),
  );

export const configurationSchema = (): string => `${JSON.stringify(shapeOf(Configuration), null, 2)}\n`;
