import { findOnPath } from '../stack/processes.mjs';
import { readEnvironment } from '../stack/records.mjs';
import { runProgram } from './noted-program.mjs';

export const title = 'dashboards and alerts with a real Prometheus, with the shipped rules and intervals';
export const unproven = [
  'Grafana: no Grafana server could be reached. Whether it draws the panels as intended was not checked; the files are checked for what an import needs.',
  'Most alerts fire only in `promtool`; here only those for a dead letter, a provider and a process fire.',
];
export const missing = () => {
  if (findOnPath('prometheus') === null) return 'it needs prometheus (apt-get install prometheus)';
  return readEnvironment()?.CHROMA_URL ? null : 'it needs the local stack with ChromaDB (npm run stack -- up)';
};
export const run = ({ fact }) => runProgram('monitoring', fact);
