// What programs take of packages, for esbuild: a start compiles every byte of a file that it imports.
import { join } from 'node:path';
import { workspaceRoot } from './workspace.mjs';

const inPackages = (path) => join(workspaceRoot, 'node_modules', path);
/** Packages that exist as ES modules too, of which the build can leave out what nobody imports. */
const asModules = {
  rxjs: 'rxjs/dist/esm/index.js',
  'rxjs/operators': 'rxjs/dist/esm/operators/index.js',
  yaml: 'yaml/browser/index.js',
};
/** Nest imports these packages whole, and uses these names of them. */
const usedOf = {
  '@nestjs/microservices': "export { NestMicroservice } from '@nestjs/microservices/nest-microservice.js';",
  '@nestjs/platform-express': "export { ExpressAdapter } from '@nestjs/platform-express/adapters/express-adapter.js';",
};
/** What a package imports, by the files that do, and no program of ours uses; where a whole is asked for, what stands in its place. */
const unused = [
  // Nest's own transports and their clients: services use ours, and are no clients of each other.
  [/[\\/]@nestjs[\\/]microservices[\\/]nest-microservice\.js$/, './server/server-factory.js', 'export const ServerFactory = {};'],
  [/[\\/]@nestjs[\\/]microservices[\\/]listeners-controller\.js$/, './server/index.js', 'export class ServerGrpc {}'],
  [/[\\/]@nestjs[\\/]microservices[\\/]microservices-module\.js$/, './client/index.js', 'export const ClientProxyFactory = {};'],
  // The gateway reads bodies itself.
  [/[\\/]express[\\/]lib[\\/]express\.js$/, 'body-parser', 'module.exports = {};'],
  // No metric has exemplars.
  [/[\\/]prom-client[\\/]/, '@opentelemetry/api', 'module.exports = {};'],
  // Redis is one server.
  [/[\\/]ioredis[\\/]built[\\/](index|Redis)\.js$/, './cluster', 'module.exports = {};'],
];
const nest = /[\\/]node_modules[\\/]@nestjs[\\/]/;
/** Express comes with four copies of one version of it. */
const mimeTypes = inPackages('express/node_modules/mime-types/index.js');

/** Imports Reflect.js for its effect alone: as a file to inject, each file would make a copy of its exports. */
export const metadata = 'reflect-metadata-alone';

export const leanPackages = {
  name: 'lean packages',
  setup(build) {
    const resolved = 'resolved';
    build.onResolve({ filter: /^(rxjs|rxjs\/operators|yaml)$/ }, ({ path, kind }) =>
      // Whoever requires a package takes the whole of it.
      kind === 'require-call' ? undefined : { path: inPackages(asModules[path]), sideEffects: false },
    );
    build.onResolve({ filter: /^reflect-metadata-alone$/ }, () => ({ path: metadata, namespace: 'metadata' }));
    build.onLoad({ filter: /.*/, namespace: 'metadata' }, () => ({ contents: "import 'reflect-metadata';", resolveDir: workspaceRoot }));
    build.onResolve({ filter: /^mime-types$/ }, ({ importer }) =>
      /[\\/](accepts|type-is|send|express)[\\/]/.test(importer) ? { path: mimeTypes } : undefined,
    );
    const paths = unused.map(([, path]) => path.replace(/[./]/g, '\\$&'));
    build.onResolve({ filter: new RegExp(`^(${paths.join('|')})$`) }, ({ path, importer }) => {
      const at = unused.findIndex(([file, name]) => name === path && file.test(importer));
      return at < 0 ? undefined : { path: String(at), namespace: 'unused', sideEffects: false };
    });
    build.onResolve({ filter: /^(@nestjs\/|\.)/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === resolved || !(path.startsWith('@nestjs/') || nest.test(importer))) return undefined;
      if (kind === 'dynamic-import' && Object.hasOwn(usedOf, path)) return { path, namespace: 'used-of', pluginData: resolveDir };
      const found = await build.resolve(path, { importer, resolveDir, kind, pluginData: resolved });
      // Nest does not say it: its files do nothing but define.
      return { ...found, sideEffects: false };
    });
    build.onLoad({ filter: /.*/, namespace: 'used-of' }, ({ path, pluginData: resolveDir }) => ({ contents: usedOf[path], resolveDir }));
    build.onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({ contents: unused[Number(path)][2] }));
  },
};
