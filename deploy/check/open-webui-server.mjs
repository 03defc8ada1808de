import { readFileSync } from 'node:fs';
import path from 'node:path';

const functions = path.resolve(import.meta.dirname, '../open-webui');

/** Open WebUI as its admin sets it up, over its own API. */
export class WebUi {
  #headers = { 'content-type': 'application/json' };

  constructor(url) {
    this.url = url;
  }

  /** Its settings, with one connection: to Conclave. Nothing outside this machine is contacted. */
  environment(folder, conclave, key) {
    return {
      DATA_DIR: path.join(folder, 'open-webui'),
      WEBUI_SECRET_KEY: 'check-open-webui',
      WEBUI_AUTH: 'False',
      OPENAI_API_BASE_URL: `${conclave}/v1`,
      OPENAI_API_KEY: key,
      ENABLE_OLLAMA_API: 'false',
      ENABLE_FORWARD_USER_INFO_HEADERS: 'true',
      RAG_EMBEDDING_ENGINE: 'openai',
      RAG_OPENAI_API_BASE_URL: `${conclave}/v1`,
      RAG_OPENAI_API_KEY: key,
      RAG_EMBEDDING_MODEL: 'conclave-embedding',
      OFFLINE_MODE: 'true',
      HF_HUB_OFFLINE: '1',
      ENABLE_VERSION_UPDATE_CHECK: 'false',
      ANONYMIZED_TELEMETRY: 'False',
      DO_NOT_TRACK: 'true',
    };
  }

  async isReady() {
    return (await fetch(`${this.url}/api/config`)).ok;
  }

  /** Without sign-in, everybody is its admin. */
  async signIn() {
    const { token } = await this.#call('/api/v1/auths/signin', { email: '', password: '' });
    this.#headers.authorization = `Bearer ${token}`;
  }

  async models() {
    const { data } = await this.#call('/api/models');
    return data.map(({ id }) => id);
  }

  /** How far Open WebUI has read a file: `completed` once it can be searched; undefined if it does not know the file. */
  async statusOfFile(name) {
    const listed = await this.#call('/api/v1/files/');
    return (listed.items ?? listed).find(({ filename }) => filename === name)?.data?.status;
  }

  /** Saves a file of deploy/open-webui as a function, sets its valves, and switches it on. */
  async addFunction(id, file, valves) {
    const content = readFileSync(path.join(functions, file), 'utf8');
    await this.#call('/api/v1/functions/create', { id, name: id, content, meta: { description: id, manifest: {} } });
    await this.setValves(id, valves);
    await this.#call(`/api/v1/functions/id/${id}/toggle`, {});
  }
  setValves(id, valves) {
    return this.#call(`/api/v1/functions/id/${id}/valves/update`, valves);
  }
  forAllModels(id) {
    return this.#call(`/api/v1/functions/id/${id}/toggle/global`, {});
  }

  async #call(route, body) {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(this.url + route, { ...init, headers: this.#headers });
    if (!response.ok) throw new Error(`Open WebUI answered ${route} with ${response.status}: ${await response.text()}`);
    return response.json();
  }
}
