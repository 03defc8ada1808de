/** A line of a page: its size in points, and its text in ASCII. */
export interface PdfLine {
  readonly size?: number;
  readonly text: string;
}

const escaped = (text: string): string => text.replace(/[\\()]/g, '\\$&');

/** A PDF with one content stream per page, written object by object. */
export function tinyPdf(pages: readonly (readonly PdfLine[])[], { title = '' }: { title?: string } = {}): Buffer {
  const contents = pages.map((lines) => {
    let y = 780;
    const text = lines.map(({ size = 12, text: words }) => {
      y -= size * 1.4;
      return `BT /F1 ${size} Tf 1 0 0 1 50 ${y.toFixed(1)} Tm (${escaped(words)}) Tj ET`;
    });
    return text.join('\n');
  });
  const pageId = (index: number): number => 5 + index * 2;
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${pages.map((_page, index) => `${pageId(index)} 0 R`).join(' ')}] /Count ${pages.length} >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
      `<< /Title (${escaped(title)}) >>`,
      ...contents.flatMap((content, index) => [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${pageId(index) + 1} 0 R >>`,
        `<< /Length ${Buffer.byteLength(content)} >>\nstream\n${content}\nendstream`,
      ]),
    ],
    '/Root 1 0 R /Info 4 0 R',
  );
}

/** A PDF of numbered objects with its cross-reference table. */
export function pdfOf(objects: readonly (string | Buffer)[], trailer: string): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const offsets: number[] = [];
  let at = parts[0]!.length;
  const add = (part: Buffer): void => {
    parts.push(part);
    at += part.length;
  };
  objects.forEach((object, index) => {
    offsets.push(at);
    add(Buffer.from(`${index + 1} 0 obj\n`));
    add(Buffer.isBuffer(object) ? object : Buffer.from(object, 'latin1'));
    add(Buffer.from('\nendobj\n'));
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const start = at;
  add(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}
