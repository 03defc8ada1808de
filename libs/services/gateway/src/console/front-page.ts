/** The page loads nothing and runs no script: it is text with inline styles. */
export const frontPagePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[sign]!);

/**
 * The page at `/`: the address for clients, the models and one line to try. `models` is null when the caller needs a key to see
 * them.
 */
export function frontPage(address: string, models: readonly string[] | null): string {
  const keyed = models === null ? '-H "authorization: Bearer $CONCLAVE_API_KEY" ' : '';
  const body = JSON.stringify({ model: models?.[0] ?? 'conclave', messages: [{ role: 'user', content: 'Hello' }] });
  const curl = `curl ${address}/v1/chat/completions ${keyed}-H 'content-type: application/json' -d '${body}'`;
  const list =
    models === null
      ? '<p>Models: <code>GET /v1/models</code> lists them, with an API key.</p>'
      : models.length === 0
        ? '<p>Models: none is available yet. Start a model server, or add one to conclave.yaml.</p>'
        : `<p>Models: ${models.map((id) => `<code>${escaped(id)}</code>`).join(', ')}; <code>GET /v1/models</code> lists all.</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conclave</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}pre{overflow-x:auto;padding:.75rem;border:1px solid;border-radius:.25rem}</style>
</head>
<body>
<main>
<h1>Conclave</h1>
<p>A committee of models behind an OpenAI-compatible API. Base URL for clients: <code>${escaped(`${address}/v1`)}</code></p>
${list}
<p>Try it in a terminal:</p>
<pre><code>${escaped(curl)}</code></pre>
<p>More: <code>/health</code> shows its state, <code>/openapi.json</code> describes the API.</p>
</main>
</body>
</html>
`;
}
