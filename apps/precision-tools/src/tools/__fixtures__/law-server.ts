import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateRawSync } from 'node:zlib';

/** A ZIP archive of one deflated file. The checksum is left zero, because the reader ignores it. */
export function zipped(name: string, content: Uint8Array): Buffer {
  const [file, data] = [Buffer.from(name), deflateRawSync(content)];
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(8, 8);
  local.writeUInt32LE(data.length, 18);
  local.writeUInt32LE(content.length, 22);
  local.writeUInt16LE(file.length, 26);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(data.length, 20);
  entry.writeUInt32LE(content.length, 24);
  entry.writeUInt16LE(file.length, 28);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length + file.length, 12);
  end.writeUInt32LE(local.length + file.length + data.length, 16);
  return Buffer.concat([local, file, data, entry, file, end]);
}

const norm = (metadata: string, content = ''): string =>
  `<norm doknr="X"><metadaten><jurabk>PrüfG</jurabk>${metadata}</metadaten><textdaten><text format="XML"><Content>${content}</Content></text><fussnoten><Content><P>Nicht Teil des Textes</P></Content></fussnoten></textdaten></norm>`;

/** An invented law with everything that the reader must handle. */
export const inventedLaw = `<?xml version="1.0" encoding="UTF-8" ?><!DOCTYPE dokumente SYSTEM "http://example.invalid/gii-norm.dtd">
<dokumente builddate="20260102212629" doknr="BJNR1">
<norm doknr="BJNR1"><metadaten><jurabk>PrüfG</jurabk><ausfertigung-datum manuell="ja">2001-02-03</ausfertigung-datum><langue>Gesetz über das Prüfen
von Werkzeugen</langue><standangabe><standtyp>Stand</standtyp><standkommentar>Zuletzt geändert durch Art. 3 G v. 1.1.2020</standkommentar></standangabe></metadaten></norm>
${norm('<gliederungseinheit><gliederungskennzahl>010</gliederungskennzahl><gliederungsbez>Teil 1</gliederungsbez><gliederungstitel>Allgemeines</gliederungstitel></gliederungseinheit>')}
${norm('<enbez>§ 1</enbez><titel format="parat">Zweck</titel>', '<P>(1) Werkzeuge werden geprüft &amp; gez&#228;hlt.</P><P>(2) Es gelten<DL Type="arabic"><DT>1.</DT><DD><LA>die Maße,</LA></DD><DT>2.</DT><DD><LA>die Gewichte.</LA></DD></DL></P>')}
${norm('<gliederungseinheit><gliederungskennzahl>010010</gliederungskennzahl><gliederungsbez>Kapitel 1</gliederungsbez><gliederungstitel>Fristen</gliederungstitel></gliederungseinheit>')}
${norm('<enbez>§ 2a</enbez><titel>Frist der Prüfung</titel>', '<P>Die Frist beträgt zehn Tage.<BR/>Der Tag der Prüfung zählt mit.<FnR ID="F1"/></P><table><tgroup><tbody><row><entry>Werkzeug</entry><entry>Frist</entry></row></tbody></tgroup></table>')}
${norm('<enbez>§§ 3 bis 5</enbez><titel>(weggefallen)</titel>')}
${norm('<gliederungseinheit><gliederungskennzahl>020</gliederungskennzahl><gliederungsbez>Teil 2</gliederungsbez><gliederungstitel>Schluss</gliederungstitel></gliederungseinheit>')}
${norm('<enbez>Anlage 1</enbez><titel>Liste der Werkzeuge</titel>', '<P>Hammer &lt; Zange</P>')}
</dokumente>`;

const contents = `<?xml version="1.0" encoding="UTF-8" ?><items>
<item><title>Gesetz über das Prüfen von Werkzeugen</title><link>http://www.example.invalid/pr_fg/xml.zip</link></item>
<item><title>Steuerordnung der Werkzeuge</title><link>http://www.example.invalid/stow_1977/xml.zip</link></item>
<item><title>Werkzeug-Fünftes Buch</title><link>http://www.example.invalid/sgb_5/plain.xml</link></item>
<item><title>Bombe</title><link>http://www.example.invalid/bombe/xml.zip</link></item>
<item><title>Milliarden Lacher</title><link>http://www.example.invalid/lol/xml</link></item>
<item><title>Tiefes Gesetz</title><link>http://www.example.invalid/tief/xml</link></item>
<item><title>Kaputtes Gesetz</title><link>http://www.example.invalid/kaputt/xml.zip</link></item>
<item><title>Umleitung</title><link>http://www.example.invalid/weg/xml.zip</link></item>
<item><title>Fehlendes Gesetz</title><link>http://www.example.invalid/fehlt/xml.zip</link></item>
<item><title>Langsames Gesetz</title><link>http://www.example.invalid/langsam/xml.zip</link></item>
<item><title>Ausbruch</title><link>http://www.example.invalid/../../etc/passwd</link></item>
</items>`;

const entities = Array.from({ length: 9 }, (_, i) => `<!ENTITY lol${i + 1} "${`&lol${i};`.repeat(10)}">`).join('');

const files: Readonly<Record<string, () => string | Buffer>> = {
  '/gii/gii-toc.xml': () => contents,
  '/gii/pr_fg/xml.zip': () => zipped('BJNR1.xml', Buffer.from(inventedLaw)),
  '/gii/stow_1977/xml.zip': () => zipped('a.xml', Buffer.from(inventedLaw)),
  '/gii/sgb_5/plain.xml': () => inventedLaw,
  // 20 MB of blanks in 20 kB.
  '/gii/bombe/xml.zip': () => zipped('a.xml', Buffer.alloc(20 * 1024 * 1024, ' ')),
  '/gii/lol/xml': () =>
    `<?xml version="1.0"?><!DOCTYPE dokumente [<!ENTITY lol0 "lol">${entities}]><dokumente><norm>&lol9;</norm></dokumente>`,
  '/gii/tief/xml': () => `${'<a>'.repeat(500_000)}${'</a>'.repeat(500_000)}`,
  '/gii/kaputt/xml.zip': () => Buffer.from('PK\u0003\u0004 this is no archive'),
};

export interface LawServer {
  url: string;
  /** Requested paths, in order. */
  asked: string[];
  close(): Promise<void>;
}

export async function startLawServer(): Promise<LawServer> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    if (path.startsWith('/gii/langsam')) return;
    if (path.startsWith('/gii/weg')) return void response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    const file = files[path];
    response.writeHead(file ? 200 : 404).end(file?.());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/gii`,
    asked,
    close: () => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}
