import { readFileSync } from 'node:fs';
import https from 'node:https';

const running = (pod) => {
  const now = new Date().toISOString();
  const { containers } = pod.spec;
  return {
    phase: 'Running',
    startTime: now,
    podIP: `10.244.0.${1 + Math.floor(Math.random() * 250)}`,
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: now,
    })),
    containerStatuses: containers.map(({ name, image }) => ({
      ...{ name, image, imageID: image, ready: true, started: true, restartCount: 0 },
      state: { running: { startedAt: now } },
    })),
  };
};

/** Objects of three nodes that are ready. */
export const nodes = () => {
  const room = { cpu: '16', memory: '64Gi', pods: '110' };
  const ready = { type: 'Ready', status: 'True', reason: 'Played', lastHeartbeatTime: new Date().toISOString() };
  return [1, 2, 3].map((n) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `node-${n}`, labels: { 'kubernetes.io/hostname': `node-${n}`, 'topology.kubernetes.io/zone': `zone-${n}` } },
    status: { capacity: room, allocatable: room, conditions: [ready] },
  }));
};

/**
 * Simulates the kubelets of all nodes: a pod that was assigned to a node is reported as running and ready, and one that is to be deleted as
 * gone. No container is started. Returns `{ end, pause }`: while it is paused, pods stay as they are.
 */
export function playNodes({ port, token, caFile }) {
  const agent = new https.Agent({ keepAlive: true, ca: readFileSync(caFile) });
  const ask = (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const text = body ? JSON.stringify(body) : '';
      const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'content-length': Buffer.byteLength(text) };
      const request = https.request({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
        let said = '';
        response.setEncoding('utf8').on('data', (part) => (said += part));
        response.on('end', () => (response.statusCode < 300 ? resolve(JSON.parse(said)) : reject(new Error(`${method} ${path}: ${said}`))));
      });
      request.on('error', reject);
      request.end(text);
    });
  let ended = false;
  let paused = false;
  const round = async () => {
    const { items } = await ask('GET', '/api/v1/pods');
    for (const pod of items) {
      if (!pod.spec.nodeName) continue;
      const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;
      if (pod.metadata.deletionTimestamp) await ask('DELETE', path, { gracePeriodSeconds: 0 });
      else if (pod.status.phase !== 'Running')
        await ask('PATCH', `${path}/status`, { status: running(pod) }, 'application/strategic-merge-patch+json');
    }
  };
  const loop = async () => {
    while (!ended) {
      // The server may not answer for a moment; the next round sees the same pods.
      if (!paused) await round().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  };
  const played = loop();
  return {
    pause: (value) => {
      paused = value;
    },
    end: async () => {
      ended = true;
      await played;
      agent.destroy();
    },
  };
}
