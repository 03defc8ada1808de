// Text of a PDF, line by line; lines in larger letters become headings.
import { getDocumentProxy } from 'unpdf';
import { Unreadable } from './unreadable.mjs';

const longestHeading = 150;

/** Returns `{ title, text, notices }`. Reads at most `pages` pages: further ones are refused if `strict`, otherwise left out. */
export async function pdfText(bytes, { limit, pages, strict }) {
  const pdf = await opened(bytes);
  try {
    const count = pdf.numPages;
    if (strict && count > pages) throw new Unreadable('too_large', `It has ${count} pages; ${pages} are read.`);
    const lines = [];
    let length = 0;
    let read = 0;
    while (read < Math.min(count, pages) && length <= limit) {
      read += 1;
      const page = await pdf.getPage(read);
      const found = linesOf(await page.getTextContent({ includeMarkedContent: false }));
      page.cleanup();
      for (const line of found) length += line.text.length + 1;
      if (lines.length > 0) lines.push({ text: '', size: 0 });
      lines.push(...found);
    }
    const text = markdownOf(lines);
    const notices = [];
    if (read < count) notices.push(`Only the first ${read} of its ${count} pages were read.`);
    if (text === '') throw new Unreadable('unreadable', 'Its pages contain no text; they may be pictures of text.');
    return { title: await titleOf(pdf, text), text, notices };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function opened(bytes) {
  try {
    return await getDocumentProxy(bytes, {
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      stopAtErrors: false,
      enableXfa: false,
      verbosity: 0,
    });
  } catch (error) {
    if (error?.name === 'PasswordException')
      throw new Unreadable('unreadable', 'It is protected by a password. Remove the protection first.');
    throw new Unreadable('unreadable', 'It is broken, or not a PDF.');
  }
}

function linesOf({ items }) {
  const lines = [];
  let text = '';
  let size = 0;
  let bottom = null;
  const end = () => {
    const line = text.replace(/\s+/g, ' ').trim();
    if (line !== '') lines.push({ text: line, size });
    text = '';
    size = 0;
  };
  for (const item of items) {
    if (typeof item.str !== 'string') continue;
    const height = Math.hypot(item.transform[2], item.transform[3]);
    const y = item.transform[5];
    if (item.str.trim() !== '') {
      if (bottom !== null && Math.abs(bottom - y) > Math.max(height, size, 1) * 0.5 && text !== '') end();
      // A gap of more than one and a half lines divides paragraphs.
      if (bottom !== null && text === '' && bottom - y > Math.max(height, 1) * 1.9 && lines.length > 0) lines.push({ text: '', size: 0 });
      bottom = y;
      size = Math.max(size, Math.round(height * 10) / 10);
    }
    text += item.str;
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

/** Font size of most characters, in points. */
function bodySize(lines) {
  const characters = new Map();
  for (const { text, size } of lines) if (text !== '') characters.set(size, (characters.get(size) ?? 0) + text.length);
  return [...characters].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

function markdownOf(lines) {
  const body = bodySize(lines);
  const done = [];
  let paragraph = '';
  const end = () => {
    if (paragraph !== '') done.push(paragraph);
    paragraph = '';
  };
  for (const { text, size } of lines) {
    const marks = size >= body * 1.6 ? '# ' : size >= body * 1.3 ? '## ' : size >= body * 1.12 ? '### ' : '';
    if (text === '') end();
    else if (marks !== '' && text.length <= longestHeading) {
      end();
      done.push(marks + text);
    } else if (/\p{L}-$/u.test(paragraph) && /^\p{Ll}/u.test(text)) paragraph = paragraph.slice(0, -1) + text;
    else paragraph += paragraph === '' ? text : `\n${text}`;
  }
  end();
  return done.join('\n\n');
}

async function titleOf(pdf, text) {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const named = typeof info?.Title === 'string' ? info.Title.replace(/\s+/g, ' ').trim() : '';
  return named || (/^#{1,3} (.+)$/m.exec(text)?.[1] ?? '');
}
