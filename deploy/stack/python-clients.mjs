import path from 'node:path';
import { deployFolder } from './settings.mjs';
import { pythonEnvironment } from './python-environment.mjs';

/** Third-party clients in Python and LiteLLM's proxy, which `tests/clients/python` runs. */
export const pythonClients = pythonEnvironment({
  name: 'python-clients',
  requirements: path.join(deployFolder, '..', 'tests', 'clients', 'python', 'requirements.txt'),
  purpose: 'runs the clients in Python',
  oldest: [3, 11],
});
