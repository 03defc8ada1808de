import type { UpstreamError } from './error-body.js';

/** Codes and types that always mean an unknown model: OpenAI, Groq, vLLM, LM Studio, LiteLLM, Azure, Azure's and GitHub's model catalogues, Mistral. */
const codes = /^(?:model_not_found|model_decommissioned|deploymentnotfound|unknown_model|unavailable_model|invalid_model)$/i;

/** Statuses with which a server refuses a request for a model that it does not have. */
const statuses = new Set([400, 403, 404, 410, 422]);

/** Where a sentence begins: at the start, or after the mark that ends what a proxy wrote in front of it. */
const begins = String.raw`(?:^|[:.;,'"“‘(\[{>\n-]\s*)`;
/** A model's name: in quotes, or a word that does not look like a part of the sentence. */
const name = String.raw`(?:["'\`“‘][^"'\`”’\n]{1,200}["'\`”’]|(?=[^\s"'\`]*[\d/:.@_-])[^\s"'\`]+)`;
const gone = String.raw`(?:(?:is |was |could )?not (?:be )?found|(?:does |do )?not exist|has been (?:decommissioned|removed|retired))`;

/**
 * Sentences of servers that send no code, or one that does not tell. Each sentence is about the model of the request only: a file, a tool
 * or a template of a model may be missing, too.
 */
const sentences = [
  // Ollama, vLLM, LM Studio, DeepSeek, Fireworks, llama.cpp's router
  `${begins}(?:the |this |that )?(?:requested |specified )?model:?(?: ${name})?,? ${gone}`,
  // Gemini
  `${begins}models/\\S+ is not found`,
  // LiteLLM, LM Studio, Perplexity, Mistral, GitHub
  `${begins}(?:\\S+: )?(?:invalid|unknown|unavailable|no such) model(?: (?:name|identifier|id))?(?: passed in)?(?:: ?| model=| (?=["'\`])|$)`,
  // OpenRouter
  `${begins}no endpoints found for (?:this model|[^\\s/]+/\\S+)`,
  `(?:^|\\s)${name} is not a valid model(?: id)?\\b`,
  // Anthropic
  '^model: \\S+$',
].map((pattern) => new RegExp(pattern, 'i'));

/** Whether a refusal says that the server does not have the model of the request. */
export function saysUnknownModel(status: number, { code, type, message }: UpstreamError): boolean {
  if (!statuses.has(status)) return false;
  if (codes.test(code) || codes.test(type)) return true;
  return status !== 403 && sentences.some((sentence) => sentence.test(message.slice(0, 1_000)));
}

/** What servers answer on a path that they do not have; web pages too. */
const noPath =
  /^(?:\d{3} )?(?:page |file |resource )?not found\.?$|page not found|invalid url|unexpected endpoint|cannot (?:post|get) \/|no route|(?:unknown|no such) (?:path|url|endpoint|route)|^a web page\b/i;

/** Whether a refusal with status 404 says that the server does not have the path of the request. */
export const saysUnknownPath = ({ message }: UpstreamError): boolean =>
  message.trim() === '' || noPath.test(message.slice(0, 1_000).trim());
