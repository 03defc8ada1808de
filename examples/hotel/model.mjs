// A stand-in for a model, so that the example can be watched without one: an OpenAI-compatible server that reads only the names of some
// holidays, "next weekend", "tomorrow" and days such as January 17-19, and plans calls for them by rule.
//   node examples/hotel/model.mjs [port]
import { createServer } from 'node:http';

const name = 'hotel-stand-in';
const months = 'january february march april may june july august september october november december'.split(' ');
const day = (year, month, date) => `${year}-${String(month + 1).padStart(2, '0')}-${String(date).padStart(2, '0')}`;
const nextDay = (text) => new Date(Date.parse(text) + 86_400_000).toISOString().slice(0, 10);
const found = (text, pattern) => [...new Set([...text.matchAll(pattern)].map(([match]) => match))];

/** The stays that a question names as days. */
function staysIn(question) {
  const pattern = new RegExp(`(${months.join('|')}) (\\d{1,2})(?:\\s?[-–]\\s?(\\d{1,2}))?(?:,? (\\d{4}))?`, 'gi');
  return [...question.matchAll(pattern)].map(([, month, from, to, year = '2025']) => {
    const first = day(year, months.indexOf(month.toLowerCase()), from);
    return { check_in: first, check_out: to ? day(year, months.indexOf(month.toLowerCase()), to) : nextDay(first) };
  });
}

/** The calls that were made, by the lines `id tool {arguments} -> result` of the prompt. */
function resultsIn(prompt) {
  const [, known = ''] = prompt.split('RESULTS:');
  return [...known.matchAll(/^(\S+) ([\w.]+) .*? -> (.*)$/gm)].map(([, id, tool, said]) => {
    const wholly = /^\{.*\}$/.exec(said);
    return { id, tool, result: wholly ? JSON.parse(said) : null };
  });
}

/** The next wave: the dates of the days, if they are unknown; then which rooms are free; then nothing more. */
function plan(prompt) {
  const question = /^QUESTION: (.*)$/m.exec(prompt)?.[1] ?? '';
  const results = resultsIn(prompt);
  const holidays = found(question, /hanukkah|passover|sukkot|rosh hashanah|christmas|festival of \w+/gi);
  const hints = found(question, /(this|next) weekend|tomorrow|tonight/gi);
  if (results.length === 0 && holidays.length + hints.length > 0)
    return {
      status: 'continue',
      action: `Looking up ${[...holidays, ...hints].join(' and ')}`,
      tools: [
        ...holidays.map((holiday_name, n) => ({ id: `holiday${n + 1}`, tool: 'calendar.resolve_holiday', args: { holiday_name } })),
        ...hints.map((date_hint, n) => ({ id: `hint${n + 1}`, tool: 'calendar.resolve_date_hint', args: { date_hint } })),
      ],
      reasoning: 'These days do not depend on each other, and rooms can be asked for only when they are known.',
    };
  const asked = results.some(({ tool }) => tool === 'pms.get_availability');
  const days = results.flatMap(({ id, result }) =>
    result ? [{ id, from: result.check_in ?? result.start_date, to: result.check_out }] : [],
  );
  const stays = [
    ...staysIn(question).map((stay) => ({ stay, needs: [] })),
    ...days.map(({ id, from, to }) => ({ stay: { check_in: from, check_out: to ?? nextDay(from) }, needs: [id] })),
  ];
  if (!asked && stays.length > 0)
    return {
      status: 'continue',
      action: `Asking for free rooms from ${stays.map(({ stay }) => stay.check_in).join(' and from ')}`,
      tools: stays.map(({ stay, needs }, n) => ({ id: `rooms${n + 1}`, tool: 'pms.get_availability', args: stay, needs })),
      reasoning: 'The days are known.',
    };
  const action = asked
    ? 'The free rooms are known.'
    : `The ${results.length > 0 ? 'calendar knows' : 'question names'} no days to ask for.`;
  return { status: 'done', action, tools: [], reasoning: 'Nothing more can be asked.' };
}

/** An answer from the numbered facts, each the result of one call. */
function compose(prompt) {
  const facts = [...prompt.matchAll(/^\[(\d+)\] (\{.*\})/gm)].map(([, n, fact]) => ({ n, ...JSON.parse(fact) }));
  const stays = facts.filter(({ rooms }) => rooms);
  const line = ({ n, check_in, check_out, currency, rooms }) => {
    const free = rooms
      .filter(({ available }) => available > 0)
      .map((room) => `${room.available} ${room.room_type} at ${room.total} ${currency}`);
    return `From ${check_in} to ${check_out}: ${free.join(', ') || 'nothing is free'} [${n}].`;
  };
  return stays.length > 0 ? stays.map(line).join('\n') : 'No free rooms were found.';
}

function reply(messages) {
  const prompt = messages.map(({ content }) => content).join('\n');
  if (prompt.startsWith('You plan the tool calls of the next wave.')) return JSON.stringify(plan(prompt));
  if (prompt.startsWith('You are the composer of the final answer.')) return compose(prompt);
  return 'This stand-in for a model answers no other questions.';
}

function complete(response, { messages, stream, stream_options }) {
  const content = reply(messages);
  const tokens = [JSON.stringify(messages), content].map((text) => Math.ceil(text.length / 4));
  const usage = { prompt_tokens: tokens[0], completion_tokens: tokens[1], total_tokens: tokens[0] + tokens[1] };
  const head = { id: 'chatcmpl-hotel', created: Math.floor(Date.now() / 1000), model: name };
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    return send(response, 200, { ...head, object: 'chat.completion', choices, usage });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const put = (rest) => response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...rest })}\n\n`);
  for (const word of content.match(/\s*\S+/g)) put({ choices: [{ index: 0, delta: { content: word }, finish_reason: null }] });
  put({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  if (stream_options?.include_usage) put({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}

function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const server = createServer(async (request, response) => {
  if (request.method === 'GET' && request.url === '/v1/models')
    return send(response, 200, { object: 'list', data: [{ id: name, object: 'model' }] });
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
    return send(response, 404, { error: { message: 'There is nothing here.' } });
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  return complete(response, JSON.parse(body));
});
server.listen(Number(process.argv[2] ?? 11500), '127.0.0.1', () =>
  console.log(`OPENAI_BASE_URL=http://127.0.0.1:${server.address().port}/v1`),
);
