import { randomBytes } from 'node:crypto';
import http from 'node:http';

/** What the model writes into a file with the agent's own tool, in two calls one after the other. */
export const content = 'written-by-the-tool';
const commands = [(file) => `printf written-by- > ${file}`, (file) => `printf the-tool >> ${file}`];
/** A tool of an MCP server that some agents have, what it is called with, and what its result contains. */
const calculator = { name: /calculate$/, args: { expression: '6 * 7' }, result: '42' };
const shells = /^(?:bash|shell|exec_command|run_shell_command|run_commands)$/i;
/** Arguments of shells that are not called with `command` and `description`. */
const argumentsOf = {
  exec_command: (cmd) => ({ cmd }),
  run_shell_command: (line) => ({ command: line, description: 'Writes a file', is_background: false }),
  run_commands: (line) => ({ commands: [line] }),
};

/** A model that signs its calls of tools as Gemini 3 does, and refuses those of the current turn that come back without their signature. */
export const signing = 'signer';
const missingSignature =
  'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.';

/**
 * An OpenAI-compatible server whose models use the calculator of a coding agent, if it has one, its shell twice, then answer. As strict as
 * servers of local models are: a system message only at the beginning, only functions as tools, and each call of a tool answered by the
 * next messages.
 */
export class AgentsModel {
  refused = [];
  asked = 0;
  /** Whether a calculator returned the right result. */
  calculated = false;
  /** Signatures that were given out. */
  #given = new Set();
  #server = http.createServer((request, response) => void this.#answer(request, response));

  async listen() {
    await new Promise((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${this.#server.address().port}/v1`;
  }

  close() {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(done));
  }

  async #answer(request, response) {
    const json = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url.endsWith('/models'))
      return json(200, { object: 'list', data: ['coder', signing].map((id) => ({ id, object: 'model' })) });
    let text = '';
    for await (const chunk of request) text += chunk;
    if (!request.url.endsWith('/chat/completions')) return json(404, { error: { message: 'Not found' } });
    const body = JSON.parse(text);
    this.asked += 1;
    this.calculated ||= body.messages.some(({ role, content: said }) => role === 'tool' && textOf(said).includes(calculator.result));
    const fault = faultOf(body);
    if (fault) {
      this.refused.push(fault);
      return json(500, { error: { code: 500, message: fault, type: 'server_error' } });
    }
    const signs = body.model === signing;
    if (signs && isUnsigned(body.messages, this.#given)) {
      this.refused.push(missingSignature);
      return json(400, [{ error: { code: 400, message: missingSignature, status: 'INVALID_ARGUMENT' } }]);
    }
    const message = replyTo(body);
    if (signs && message.tool_calls) message.tool_calls = message.tool_calls.map((call) => ({ ...call, ...this.#signature() }));
    const finish = message.tool_calls ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const head = { id: `c${this.asked}`, created: 1, model: body.model };
    if (!body.stream)
      return json(200, { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (rest) => response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...rest })}\n\n`);
    const delta = (one, reason = null) => send({ choices: [{ index: 0, delta: one, finish_reason: reason }] });
    delta({ role: 'assistant', content: '' });
    for (const word of message.content.split(/(?<= )/)) delta({ content: word });
    for (const [index, call] of (message.tool_calls ?? []).entries()) {
      // Gemini sends a call whole, and without an index.
      if (signs) {
        delta({ tool_calls: [call] });
        continue;
      }
      delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }] });
      for (const part of call.function.arguments.match(/.{1,9}/gs)) delta({ tool_calls: [{ index, function: { arguments: part } }] });
    }
    delta({}, finish);
    send({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  }

  #signature() {
    const signature = randomBytes(1_500).toString('base64');
    this.#given.add(signature);
    return { extra_content: { google: { thought_signature: signature } } };
  }
}

/** Whether a call of the current turn lacks the signature with which it was made. */
const isUnsigned = (messages, given) =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === 'user'))
    .some(({ tool_calls: calls }) => calls && !given.has(calls[0].extra_content?.google?.thought_signature));

/** The fault of a request, in the words of templates of local models; null if there is none. */
function faultOf({ messages, tools = [], tool_choice: choice }) {
  if (messages.some(({ role }, at) => (role === 'system' || role === 'developer') && at > 0))
    return 'Jinja Exception: System message must be at the beginning.';
  if (messages.some(({ role }) => !['system', 'user', 'assistant', 'tool'].includes(role)))
    return 'Jinja Exception: Unexpected message role.';
  const odd = tools.find(({ type, function: declared }) => type !== 'function' || !declared?.name);
  if (odd) return `Unsupported tool type: ${odd.type}`;
  if (tools.length === 0 && choice) return 'tool_choice is only allowed with tools.';
  const unanswered = messages.some(({ tool_calls: calls = [] }, at) =>
    calls.some(({ id }) => !messages.slice(at + 1, at + 1 + calls.length).some((next) => next.tool_call_id === id)),
  );
  return unanswered ? 'An assistant message with tool_calls must be followed by the results of its calls.' : null;
}

function replyTo({ messages, tools = [] }) {
  const shell = tools.map((tool) => tool.function.name).find((name) => shells.test(name));
  const said = JSON.stringify(messages);
  const file = /made-[a-z]+\.txt/.exec(said)?.[0];
  const sums = tools.map((tool) => tool.function.name).find((name) => calculator.name.test(name));
  const done = messages.filter(({ role }) => role === 'tool').length;
  const steps = [...(sums ? [() => [sums, calculator.args]] : []), ...commands.map((command) => () => shellCall(shell, command(file)))];
  if (done >= steps.length) return { role: 'assistant', content: `The file ${file} is there.` };
  if (!shell || !file) return { role: 'assistant', content: 'A file is written' };
  const [name, args] = steps[done]();
  const call = { id: `call_${done + 1}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  return { role: 'assistant', content: 'I write the file.', tool_calls: [call] };
}

const shellCall = (shell, line) => [shell, argumentsOf[shell]?.(line) ?? { command: line, description: 'Writes a file' }];

const textOf = (said) => (typeof said === 'string' ? said : JSON.stringify(said));
