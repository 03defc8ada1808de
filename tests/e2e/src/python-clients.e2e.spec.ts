import { describeClients } from './harness/client-suite.js';

describeClients('python', {
  'python/openai_python.py': 'openai-python',
  'python/langchain_python.py': 'LangChain (Python)',
  'python/openai_agents.py': 'OpenAI Agents (Python)',
  'python/pydantic_ai_agents.py': 'Pydantic AI',
  'python/litellm_proxy.py': 'LiteLLM proxy',
});
