import { describeClients } from './harness/client-suite.js';

describeClients('python', {
  'python/openai_python.py': 'openai-python',
  'python/langchain_python.py': 'LangChain (Python)',
  'python/litellm_proxy.py': 'LiteLLM proxy',
});
