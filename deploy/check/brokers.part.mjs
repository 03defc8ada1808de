import { findOnPath } from '../stack/processes.mjs';
import { runSpec } from './noted-program.mjs';

export const title = 'three brokers with SCRAM, mutual TLS and ACLs, one of them killed under load';
export const unproven = ['A managed Kafka with its own mechanisms (OAUTHBEARER, AWS IAM) was not tried: Conclave speaks PLAIN and SCRAM.'];
const programs = ['java', 'mvn', 'openssl'];
export const missing = () => {
  const absent = programs.filter((name) => findOnPath(name) === null);
  return absent.length > 0 ? `it needs ${absent.join(', ')}` : null;
};
export const run = ({ fact }) => runSpec('brokers', fact);
