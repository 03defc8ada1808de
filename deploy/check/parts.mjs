import * as agents from './agents.part.mjs';
import * as brokers from './brokers.part.mjs';
import * as dashboards from './dashboards.part.mjs';
import * as docker from './docker.part.mjs';
import * as jaeger from './jaeger.part.mjs';
import * as kubernetes from './kubernetes.part.mjs';
import * as openWebui from './open-webui.part.mjs';
import * as openapi from './openapi.part.mjs';
import * as localModel from './local-model.part.mjs';
import * as redis from './redis.part.mjs';

/**
 * The parts of `npm run check:deploy` by name. Each exports `title`, `unproven` (what it does not show, in sentences), `missing()`, which
 * returns null if it can run here and a sentence otherwise, and `run({ fact })`, which throws if something is not as it should be. `fact`
 * records a finding.
 */
export const parts = new Map(
  Object.entries({
    agents,
    docker,
    kubernetes,
    brokers,
    redis,
    jaeger,
    dashboards,
    'open-webui': openWebui,
    openapi,
    'local-model': localModel,
  }),
);
