import type { ConsoleManifest } from './console-files.js';

/**
 * Policy of the page: its own scripts and styles, requests to this origin only, and no text evaluated as a script. The nonce is for style elements
 * that the code editor creates.
 */
export const consolePolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src-elem 'self' 'nonce-${nonce}'`,
    "style-src-attr 'none'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    'trusted-types default',
    "require-trusted-types-for 'script'",
  ].join('; ');

/** The mark of the console as an inline image, so that a browser requests no file. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%231f5f8b' stroke-width='2'%3E%3Cpath d='M12 3l7.8 4.5v9L12 21l-7.8-4.5v-9z'/%3E%3Cpath d='M12 8.5l3 1.75v3.5L12 15.5l-3-1.75v-3.5z'/%3E%3C/svg%3E";

/** The same page for every path of the console. It contains no data: the scripts read that from the API, with the rights of the reader. */
export const consolePage = ({ script, modules, styles }: ConsoleManifest, nonce: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="style-nonce" nonce="${nonce}">
<title>Conclave</title>
<link rel="icon" href="${icon}">
${styles.map((name) => `<link rel="stylesheet" href="/assets/${name}">`).join('\n')}
${modules.map((name) => `<link rel="modulepreload" href="/assets/${name}">`).join('\n')}
<script type="module" src="/assets/${script}"></script>
</head>
<body>
<div id="console"></div>
<noscript><p>The console of Conclave needs JavaScript. <code>GET /openapi.json</code> describes the API behind it.</p></noscript>
</body>
</html>
`;
