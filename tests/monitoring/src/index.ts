export { Prometheus, type Target } from './prometheus.js';
export { Load } from './load.js';
export { mayStayZero, shownSince } from './panels.js';
