// Reads one document at a time, away from the thread that serves: hostile ones cost their own thread at most.
import { parentPort } from 'node:worker_threads';
import { charactersOf, isBinary } from './decoding.mjs';
import { Unreadable } from './unreadable.mjs';

/** Loaded when first needed: the parser of PDF alone is two megabytes. */
const readers = {
  async pdf({ bytes, limit, pages, strict }) {
    const { pdfText } = await import('./pdf.mjs');
    return pdfText(bytes, { limit, pages, strict });
  },
  async html({ bytes, charset, limit, extract }) {
    const { extracts } = await import('./readable.mjs');
    const { text, guessed } = charactersOf(bytes, { charset, isHtml: true });
    const page = extracts[extract](text, limit);
    return { ...page, notices: [...page.notices, ...charsetNotice(guessed)] };
  },
  async docx({ bytes, limit }) {
    const { docxText } = await import('./docx.mjs');
    return docxText(bytes, { limit });
  },
  async xlsx({ bytes, limit, pages, strict }) {
    const { xlsxText } = await import('./xlsx.mjs');
    return xlsxText(bytes, { limit, pages, strict });
  },
  async pptx({ bytes, limit, pages, strict }) {
    const { pptxText } = await import('./pptx.mjs');
    return pptxText(bytes, { limit, pages, strict });
  },
  async text({ bytes, charset, markdown }) {
    if (isBinary(bytes)) throw new Unreadable('unreadable', 'It is not text.');
    const { text, guessed } = charactersOf(bytes, { charset });
    const title = markdown
      ? (/^#{1,6}[ \t]+([^\n]{1,300})/m
          .exec(text)?.[1]
          ?.replace(/[ \t#]+$/, '')
          .trim() ?? '')
      : '';
    return { title, text: text.trim(), notices: charsetNotice(guessed) };
  },
};

const charsetNotice = (guessed) => (guessed ? ['Its character set is not declared; it was read as windows-1252.'] : []);

async function read(job) {
  try {
    const { title, text, notices } = await readers[job.kind](job);
    return { title: title.slice(0, 500), text: text.slice(0, job.limit), cut: text.length > job.limit, notices };
  } catch (error) {
    if (error instanceof Unreadable) return { failed: error.reason, message: error.message };
    // The message of a parser about a hostile document reveals the parser's internals.
    return { failed: 'unreadable', message: error instanceof RangeError ? 'It is too deeply nested.' : 'Its content is broken.' };
  }
}

parentPort.on('message', ({ id, job }) => void read(job).then((outcome) => parentPort.postMessage({ id, outcome })));
parentPort.postMessage({ ready: true });
