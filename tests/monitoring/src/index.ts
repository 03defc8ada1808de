export { Prometheus, type Target } from './prometheus.js';
export { Load } from './load.js';
export { emptyPanels } from './panels.js';
