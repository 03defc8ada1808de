import { describe, expect, it } from '@jest/globals';
import { ask, bare, codeOf, failureOf, open, watch } from './__fixtures__/servers.js';

describe('a failure', () => {
  it('inside a stream keeps its meaning', async () => {
    const replies = [
      'data: {"error":{"message":"the request exceeds the available context size","code":400}}\n\n',
      'data: {"error":{"message":"no","code":401}}\n\n',
    ];
    const url = await bare(
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(replies.shift()),
    );
    const models = open(url);
    expect(await codeOf(models.call(ask(), watch()))).toBe('CONTEXT_OVERFLOW');
    expect(await codeOf(models.call(ask(), watch()))).toBe('PROVIDER_UNAUTHENTICATED');
  });

  it.each([
    ['in a list', '[{"error":{"code":400,"message":"The key is not valid.","status":"INVALID_ARGUMENT"}}]'],
    [
      'in a choice',
      '{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":400,"message":"The key is not valid."}}]}',
    ],
  ])('inside a stream is found %s', async (_name, chunk) => {
    const url = await bare(
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${chunk}\n\n`),
    );
    expect(await failureOf(open(url).call(ask(), watch()))).toMatchObject({
      code: 'PROVIDER_REFUSED',
      detail: expect.stringContaining('The key is not valid.'),
    });
  });

  it.each([
    [
      'a line of older llama.cpp servers',
      'error: {"code":400,"message":"The key is not valid.","type":"invalid_request_error"}\n\ndata: [DONE]\n\n',
    ],
    ['JSON that is only called a stream', '{\n  "error": {\n    "code": 400,\n\n    "message": "The key is not valid."\n  }\n}'],
  ])('in place of a stream is found in %s', async (_name, text) => {
    const url = await bare((_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text));
    expect(await failureOf(open(url).call(ask(), watch()))).toMatchObject({
      code: 'PROVIDER_REFUSED',
      detail: expect.stringContaining('The key is not valid.'),
    });
  });

  it('of an older llama.cpp server in the middle of its reply is not taken for its end', async () => {
    const chunk = 'data: {"choices":[{"index":0,"delta":{"content":"The an"}}]}\n\n';
    const text = `${chunk}error: {"code":500,"message":"The slot is gone","type":"server_error"}\n\ndata: [DONE]\n\n`;
    const url = await bare((_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text));
    expect(await failureOf(open(url).call(ask(), watch()))).toMatchObject({
      code: 'PROVIDER_STREAM_BROKEN',
      detail: expect.stringContaining('The slot is gone'),
    });
  });

  it('of a server in the middle of its reply is a broken stream, which says why', async () => {
    const chunks = [
      { choices: [{ index: 0, delta: { content: 'The an' } }] },
      {
        error: { code: 'server_error', message: 'The machine behind it is gone' },
        choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
      },
    ];
    const url = await bare((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
    });
    expect(await failureOf(open(url).call(ask(), watch()))).toMatchObject({
      code: 'PROVIDER_STREAM_BROKEN',
      detail: expect.stringContaining('The machine behind it is gone'),
    });
  });
});
