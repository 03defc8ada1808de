import { findOnPath } from '../stack/processes.mjs';
import { readEnvironment } from '../stack/records.mjs';
import { runProgram } from './noted-program.mjs';

export const title = 'dashboards and alerts before a real Prometheus, with rules and intervals as they ship';
export const unproven = [
  'Grafana: no server of it could be reached. Whether it draws the panels as meant was not seen; the files are checked for what it needs to import them.',
  'Most alerts fire in `promtool` alone; here those for a dead letter, a provider and a process do.',
];
export const missing = () => {
  if (findOnPath('prometheus') === null) return 'it needs prometheus (apt-get install prometheus)';
  return readEnvironment()?.CHROMA_URL ? null : 'it needs the local stack with ChromaDB (npm run stack -- up)';
};
export const run = ({ fact }) => runProgram('monitoring', fact);
