export { openSearxng, type SearxngOptions } from './searxng-search.js';
