import type { UpstreamError } from './error-body.js';

/**
 * Server messages for a prompt that is too long, each seen in the source, the documentation or an issue of the named server.
 */
const overflowWords = [
  /context_length_exceeded|tokens_limit_reached/, // OpenAI, TabbyAPI; GitHub: codes
  /maximum context length/, // OpenAI, vLLM, Mistral, DeepSeek
  /maximum prompt length is/, // xAI
  /exceed_context_size_error|exceeds? the available context size/, // llama.cpp, TabbyAPI
  /longer than the (maximum model length|model.s context length)/, // vLLM, SGLang
  /context length (is|of) only/, // vLLM, LM Studio
  /context (length|window|size)? ?((was|has been) )?(exceeded|overflow)/, // LM Studio, llama.cpp in the middle of a reply, several proxies
  /exceed(s|ed)? (the |this )?(model.?s? )?(max(imum)? )?context (length|window|size|limit)/, // Ollama, OpenAI, Anthropic, Cloudflare
  /context window exceeds limit/, // MiniMax
  /tokens to keep from the initial prompt is greater than the context|n_keep.{0,20}>= n_ctx/, // LM Studio
  /input token count .{0,200} exceeds|too many input tokens/, // Gemini; Bedrock
  /prompt is too long|input is too long|prompt too long|prompt exceeds max length/, // Anthropic, Bedrock, Ollama; Zhipu
  /reduce the length of the (messages|prompt)/, // Groq, Cerebras
  /inputs. tokens \+ .max_new_tokens. must be|inputs. must have less than/, // TGI, TEI
  /exceeded model token limit/, // Moonshot
  /range of input length should be/, // Alibaba
  /too many tokens: /, // Cohere
  /too large to process/, // llama.cpp, for embeddings and reranking
];

/**
 * Whether a server refused a request because it is too long. Status 413 says so by itself: Groq for the tokens of a minute, proxies for
 * bytes.
 */
export const saysOverflow = (status: number, said: UpstreamError): boolean =>
  status === 413 || overflowWords.some((words) => words.test(`${said.code} ${said.type} ${said.message}`.toLowerCase()));

/** Whether a server refused a list of texts because there are too many of them: TEI, Alibaba, Gemini, Cohere, Mistral. */
export const saysTooMany = (status: number, { message }: UpstreamError): boolean =>
  [400, 413, 422].includes(status) && /(?<!physical )\bbatch\b|\bat most \d+|\btoo many (?:inputs|texts|items|documents)\b/i.test(message);

/** Codes and types of an account without credit: OpenAI, Moonshot, LiteLLM. */
const spentCode = /insufficient_quota|exceeded_current_quota|budget_exceeded|billing|credit/;
/** Sentences of others: Zhipu and Moonshot; xAI. Not “exceeded your quota”, with which Gemini means the current minute, too. */
const spentWords = /insufficient (account )?balance|used all available credits|monthly spending limit/;

/** Whether a 429 stays one until somebody pays. */
export const saysSpent = ({ code, type, message }: UpstreamError): boolean =>
  spentCode.test(`${code} ${type}`.toLowerCase()) || spentWords.test(message.toLowerCase());
