import express from 'express';

/** Sends the same streams with Express alone: a first event, then a comment every ten seconds. */
const heartbeatMs = 10_000;
const first = `event: snapshot\ndata: ${JSON.stringify({ text: 'x'.repeat(Number(process.env['FIRST_EVENT_BYTES'])) })}\n\n`;

const app = express();
app.get('/ready', (_request, response) => void response.sendStatus(200));
app.get('/events', (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write(first);
  const timer = setInterval(() => response.write(': keep-alive\n\n'), heartbeatMs);
  response.once('close', () => clearInterval(timer));
});
app.listen(Number(process.env['PORT']), '127.0.0.1');
