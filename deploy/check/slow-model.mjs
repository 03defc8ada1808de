import { once } from 'node:events';
import { createServer } from 'node:http';

/** A model server whose answers do not end by themselves: a word every 100 ms, for at most a minute. */
export class SlowModel {
  /** Answers begun, and answers whose client left. */
  begun = 0;
  left = 0;

  #server = createServer((request, response) => {
    if (request.url.endsWith('/models')) return response.end(JSON.stringify({ object: 'list', data: [{ id: 'waits', object: 'model' }] }));
    request.resume();
    this.begun += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let words = 0;
    const timer = setInterval(() => {
      words += 1;
      const choices = [{ index: 0, delta: { content: `word ${words} ` }, finish_reason: null }];
      response.write(`data: ${JSON.stringify({ id: 'slow', object: 'chat.completion.chunk', created: 0, model: 'waits', choices })}\n\n`);
      if (words === 600) response.end('data: [DONE]\n\n');
    }, 100);
    response.on('close', () => {
      clearInterval(timer);
      if (!response.writableEnded) this.left += 1;
    });
  });

  static async start() {
    const model = new SlowModel();
    model.#server.listen(0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }
  get url() {
    return `http://127.0.0.1:${this.#server.address().port}/v1`;
  }
  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
