export { serveHttp, type HttpOptions, type HttpService } from './http.js';
export { readOptions, type Options } from './options.js';
export { listedTools, openServer, serverInfo } from './server.js';
export { serveStdio } from './stdio.js';
