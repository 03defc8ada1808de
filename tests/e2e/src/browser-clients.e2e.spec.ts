import { describeClients } from './harness/client-suite.js';

// deep-chat may lose words that arrive together with the end of their stream.
describeClients('node', { 'deep-chat.mjs': 'deep-chat' }, 150);
