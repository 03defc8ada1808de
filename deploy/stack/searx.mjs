import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { probeHttp } from './probes.mjs';
import { run } from './processes.mjs';
import { deployFolder } from './settings.mjs';
import { versions } from './versions.mjs';

const folderOfOurs = path.join(deployFolder, 'stack', 'searx');
/** Debian installs searx only for its own Python; the first python3 on PATH may be another one. */
const python = '/usr/bin/python3';
const program = '/usr/bin/searx-run';
const sampleDocuments = path.join(folderOfOurs, 'documents.json');

/**
 * Turns the question into quoted words joined by OR, so that its punctuation is never read as FTS5 query syntax and the
 * best documents still come first. searx appends LIMIT and OFFSET.
 */
const queryText = `SELECT url, title, body AS content FROM docs WHERE docs MATCH (
  WITH RECURSIVE words(word, rest) AS (
    SELECT '', trim(replace(replace(replace(:query, '"', ' '), char(10), ' '), char(9), ' ')) || ' '
    UNION ALL
    SELECT substr(rest, 1, instr(rest, ' ') - 1), ltrim(substr(rest, instr(rest, ' ') + 1)) FROM words WHERE rest <> ''
  ) SELECT group_concat('"' || word || '"', ' OR ') FROM words WHERE word <> ''
) ORDER BY rank`;

/** Debian ships no default settings, so this is a complete file; JSON is valid YAML. */
export const searxSettings = ({ port, database }) => ({
  general: { debug: false, instance_name: 'conclave-stack', contact_url: false, enable_stats: false },
  brand: { git_url: '', git_branch: 'master', issue_url: '', docs_url: '', public_instances: '', wiki_url: '', twitter_url: '' },
  search: { safe_search: 0, autocomplete: '', default_lang: 'en', ban_time_on_fail: 0, max_ban_time_on_fail: 1, formats: ['html', 'json'] },
  server: {
    port,
    bind_address: '127.0.0.1',
    secret_key: randomBytes(24).toString('hex'),
    base_url: false,
    image_proxy: false,
    http_protocol_version: '1.1',
    method: 'GET',
    default_http_headers: {},
  },
  ui: {
    static_path: '/usr/share/python3-searx/static',
    templates_path: '/usr/share/python3-searx/templates',
    default_theme: 'oscar',
    default_locale: '',
    theme_args: { oscar_style: 'logicodev' },
  },
  outgoing: { request_timeout: 3, useragent_suffix: '', pool_connections: 10, pool_maxsize: 10 },
  engines: [
    {
      name: 'corpus',
      engine: 'sqlite',
      shortcut: 'co',
      categories: 'general',
      database,
      query_str: queryText.replace(/\s+/g, ' '),
      result_template: 'default.html',
      timeout: 3,
    },
  ],
  locales: { en: 'English' },
  doi_resolvers: { 'oadoi.org': 'https://oadoi.org/' },
  default_doi_resolver: 'oadoi.org',
});

/** Checks documents of the form `[{ url, title, body }]`; throws with the position of the first invalid one. */
function checkDocuments(documents) {
  if (!Array.isArray(documents)) throw new Error('Documents for searx must be a list of { url, title, body }.');
  documents.forEach((document, position) => {
    for (const field of ['url', 'title', 'body']) {
      if (typeof document?.[field] !== 'string') throw new Error(`Document ${position} for searx has no text in "${field}".`);
    }
  });
  return documents;
}

/** searx with one offline engine: full-text search in a SQLite file, so that no query leaves the machine. */
export const searx = {
  name: 'searx',
  title: `searx ${versions.searx}`,
  portNames: ['searx'],
  readyWithinMs: 30_000,
  stopWithinMs: 5_000,
  missing: () => (existsSync(program) && existsSync(python) ? null : { reason: 'no searx found', packages: ['searx'] }),
  install: async () => program,

  /** Options: `corpusDb` (a file with table docs(url, title, body) in FTS5) or `documents`; with neither, a few samples. */
  async prepare({ folder, ports, options }) {
    mkdirSync(folder, { recursive: true });
    const database = path.resolve(options.corpusDb ?? path.join(folder, 'corpus.db'));
    if (!options.corpusDb) {
      const documents = checkDocuments(options.documents ?? JSON.parse(readFileSync(sampleDocuments, 'utf8')));
      await run(python, ['-I', path.join(folderOfOurs, 'build-corpus.py'), database], { input: JSON.stringify(documents) });
    } else if (!existsSync(database)) {
      throw new Error(`There is no search corpus at ${database}.`);
    }
    writeFileSync(path.join(folder, 'settings.yml'), JSON.stringify(searxSettings({ port: ports.searx, database }), null, 2));
  },

  command: ({ folder }) => ({
    file: python,
    args: [program],
    env: { SEARX_SETTINGS_PATH: path.join(folder, 'settings.yml'), PYTHONPATH: '', PYTHONHOME: undefined, PYTHONUNBUFFERED: '1' },
    cwd: folder,
  }),
  stopped: () => undefined,

  probe: (ports) => probeHttp(ports.searx, '/healthz'),
  address: (ports) => `http://127.0.0.1:${ports.searx}`,
  environment: (ports) => ({ SEARXNG_URL: `http://127.0.0.1:${ports.searx}` }),
};
