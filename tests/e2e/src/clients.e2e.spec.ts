import { describeClients } from './harness/client-suite.js';

describeClients('node', {
  'openai-node.mjs': 'openai-node',
  'anthropic-sdk.mjs': 'Anthropic SDK (Node)',
  'ai-sdk.mjs': 'Vercel AI SDK',
  'ai-sdk-responses.mjs': 'Vercel AI SDK (Responses)',
  'langchain-js.mjs': 'LangChain.js',
  'compatcanary.mjs': 'CompatCanary',
});
