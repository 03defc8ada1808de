import { invalid } from '../refusal.js';
import { readXml, xmlText } from './xml.js';
import { fileInZip, isZip } from './zip.js';

/** One entry of a law: a paragraph, an article, an annex. */
export interface Norm {
  /** Its designation as printed, such as "§ 433" or "Art 1". */
  name: string;
  title: string;
  /** Headings above it, outermost first. */
  section: readonly string[];
  text: string;
}

export interface Law {
  abbreviation: string;
  title: string;
  /** Day of enactment, ISO. */
  enacted: string;
  /** The publisher's note on amendments. */
  status: readonly string[];
  /** When the publisher built the file, in the publisher's format. */
  built: string;
  norms: readonly Norm[];
}

/** An entry of the table of contents. */
export interface LawEntry {
  title: string;
  /** Path of its file below the base address, such as "bgb/xml.zip". */
  path: string;
  /** First part of the path: the name of the law in addresses. */
  slug: string;
}

/** Largest law, unpacked, in bytes. */
const largestLaw = 16 * 1024 * 1024;
const mostEntries = 50_000;
const safePath = /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/;

/** gii-toc.xml: items of a title and a link. Only the path of a link is kept: the host is the configured one. */
export function readContents(bytes: Uint8Array): LawEntry[] {
  const entries: LawEntry[] = [];
  let [inside, title, link] = ['', '', ''];
  readXml(xmlText(bytes), {
    open(name) {
      inside = name;
      if (name === 'item') [title, link] = ['', ''];
    },
    close(name) {
      inside = '';
      if (name !== 'item' || entries.length >= mostEntries) return;
      const path = pathOf(link.trim());
      if (path) entries.push({ title: title.replaceAll(/\s+/g, ' ').trim(), path, slug: path.split('/')[0]! });
    },
    text(data) {
      if (inside === 'title') title += data;
      if (inside === 'link') link += data;
    },
  });
  if (entries.length === 0) throw invalid('The table of contents lists no law.');
  return entries;
}

function pathOf(link: string): string | null {
  const path = link.replace(/^https?:\/\/[^/]+\//i, '').replace(/^\.?\//, '');
  return safePath.test(path) && !path.split('/').includes('..') ? path : null;
}

/** Elements of the text that end a line. */
const blocks = new Set(['P', 'BR', 'DL', 'DD', 'row', 'Title', 'Subtitle', 'table', 'Revision']);
/** Elements whose content is not text of the norm. */
const silent = new Set(['FnR', 'Footnotes', 'Footnote', 'kommentar', 'TOC', 'fussnoten', 'IMG']);

/** A law as gesetze-im-internet.de publishes it (gii-norm.dtd 1.01): one XML file, plain or in a ZIP archive. */
export async function readLaw(bytes: Uint8Array): Promise<Law> {
  const law = { abbreviation: '', official: '', title: '', enacted: '', built: '', status: [] as string[] };
  const norms: Norm[] = [];
  let norm = { name: '', title: '', text: '' };
  const headings: { key: string; text: string }[] = [];
  let heading = { key: '', name: '', title: '' };
  const path: string[] = [];
  let [muted, content] = [0, 0];

  const endHeading = (): void => {
    const { key, name, title } = heading;
    // A key is a code of three digits for each level; levels that are not above the new one are closed by it.
    while (headings.length > 0 && !(key.length > headings.at(-1)!.key.length && key.startsWith(headings.at(-1)!.key))) headings.pop();
    headings.push({
      key,
      text: [name, title]
        .map((part) => part.trim())
        .filter(Boolean)
        .join(' '),
    });
  };
  readXml(xmlText(isZip(bytes) ? await fileInZip(bytes, '.xml', largestLaw) : bytes), {
    open(name, attributes) {
      path.push(name);
      if (name === 'dokumente') law.built = attributes.builddate ?? '';
      if (name === 'norm') norm = { name: '', title: '', text: '' };
      if (name === 'gliederungseinheit') heading = { key: '', name: '', title: '' };
      if (name === 'text' && path.at(-2) === 'textdaten') content += 1;
      if (silent.has(name)) muted += 1;
      // The number of a list item and its text share a line.
      if (content > 0 && name !== 'DD' && (blocks.has(name) || name === 'DT')) norm.text += '\n';
    },
    close(name) {
      path.pop();
      if (silent.has(name)) muted -= 1;
      if (name === 'text' && path.at(-1) === 'textdaten') content -= 1;
      if (content > 0 && blocks.has(name)) norm.text += '\n';
      if (content > 0 && (name === 'DT' || name === 'entry')) norm.text += name === 'DT' ? ' ' : ' | ';
      if (name === 'gliederungseinheit') endHeading();
      if (name === 'norm' && norm.name.trim() !== '')
        norms.push({
          name: tidy(norm.name),
          title: tidy(norm.title),
          section: headings.map(({ text }) => text),
          text: tidyText(norm.text),
        });
    },
    text(data) {
      if (muted > 0) return;
      const name = path.at(-1);
      if (content > 0) norm.text += data.replaceAll(/\s+/g, ' ');
      else if (name === 'enbez') norm.name += data;
      else if (name === 'titel') norm.title += data;
      else if (name === 'gliederungskennzahl') heading.key += data.trim();
      else if (name === 'gliederungsbez') heading.name += data;
      else if (name === 'gliederungstitel') heading.title += data;
      else if (norms.length > 0) return;
      else if (name === 'jurabk') law.abbreviation ||= tidy(data);
      else if (name === 'amtabk') law.official ||= tidy(data);
      else if (name === 'langue') law.title += data;
      else if (name === 'ausfertigung-datum') law.enacted ||= tidy(data);
      else if (name === 'standkommentar' && tidy(data) !== '') law.status.push(tidy(data));
    },
  });
  if (law.abbreviation === '' || norms.length === 0) throw invalid('The document is not a law in the format of gesetze-im-internet.de.');
  const { official, ...rest } = law;
  return { ...rest, abbreviation: official || law.abbreviation, title: tidy(law.title), norms };
}

const tidy = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const tidyText = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(/[\s|]+$/, '').trim())
    .filter(Boolean)
    .join('\n');
