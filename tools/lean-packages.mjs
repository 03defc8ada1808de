// An esbuild plugin that drops unused parts of packages: a start compiles every byte of an imported file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from './workspace.mjs';

/** Entry files of packages that also ship as ES modules, which the build can tree-shake. */
const asModules = {
  rxjs: 'dist/esm/index.js',
  'rxjs/operators': 'dist/esm/operators/index.js',
  yaml: 'browser/index.js',
};
/** The folder of a package, from one of its files; its location depends on what else is installed. */
const folderOf = (file, name) => file.slice(0, file.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length);
/** Packages that Nest imports whole, with the only names it uses. */
const usedOf = {
  '@nestjs/microservices': "export { NestMicroservice } from '@nestjs/microservices/nest-microservice.js';",
  '@nestjs/platform-express': "export { ExpressAdapter } from '@nestjs/platform-express/adapters/express-adapter.js';",
};
/** Imports inside packages that no program of ours uses: importing file, imported path, replacement source. */
const unused = [
  // Nest's own transports and clients: services use our transport and never call each other.
  [/[\\/]@nestjs[\\/]microservices[\\/]nest-microservice\.js$/, './server/server-factory.js', 'export const ServerFactory = {};'],
  [/[\\/]@nestjs[\\/]microservices[\\/]listeners-controller\.js$/, './server/index.js', 'export class ServerGrpc {}'],
  [/[\\/]@nestjs[\\/]microservices[\\/]microservices-module\.js$/, './client/index.js', 'export const ClientProxyFactory = {};'],
  // The gateway reads bodies itself.
  [/[\\/]express[\\/]lib[\\/]express\.js$/, 'body-parser', 'module.exports = {};'],
  // Our metrics have no exemplars, for which prom-client would load this package.
  [/[\\/]prom-client[\\/]/, '@opentelemetry/api', 'module.exports = {};'],
];
/** JSON files of more bytes than this are parsed as JSON when they are needed, which is faster than compiling them. */
const longJson = 4_096;
const nest = /[\\/]node_modules[\\/]@nestjs[\\/]/;
/** Imports reflect-metadata only for its side effect: injected directly, every file would get a copy of its exports. */
export const metadata = 'reflect-metadata-alone';

export const leanPackages = {
  name: 'lean packages',
  setup(build) {
    const resolved = 'resolved';
    build.onResolve({ filter: /^(rxjs|rxjs\/operators|yaml)$/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      // `require` takes the whole package.
      if (kind === 'require-call' || pluginData === resolved) return undefined;
      const found = await build.resolve(path, { importer, resolveDir, kind, pluginData: resolved });
      if (found.errors.length > 0) return found;
      return { path: join(folderOf(found.path, path.split('/')[0]), asModules[path]), sideEffects: false };
    });
    build.onResolve({ filter: /^reflect-metadata-alone$/ }, () => ({ path: metadata, namespace: 'metadata' }));
    build.onLoad({ filter: /.*/, namespace: 'metadata' }, () => ({ contents: "import 'reflect-metadata';", resolveDir: workspaceRoot }));
    // Express and its parts ship four copies of one version of this package: all use the copy of Express.
    build.onResolve({ filter: /^mime-types$/ }, async ({ importer, kind, pluginData }) => {
      if (pluginData === resolved || !/[\\/](accepts|type-is|send|express)[\\/]/.test(importer)) return undefined;
      const express = await build.resolve('express', { resolveDir: workspaceRoot, kind, pluginData: resolved });
      if (express.errors.length > 0) return undefined;
      return build.resolve('mime-types', {
        importer: express.path,
        resolveDir: folderOf(express.path, 'express'),
        kind,
        pluginData: resolved,
      });
    });
    build.onLoad({ filter: /\.json$/, namespace: 'file' }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (text.length <= longJson) return undefined;
      return { contents: `module.exports = JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(text)))});`, loader: 'js' };
    });
    const paths = unused.map(([, path]) => path.replace(/[./]/g, '\\$&'));
    build.onResolve({ filter: new RegExp(`^(${paths.join('|')})$`) }, ({ path, importer }) => {
      const at = unused.findIndex(([file, name]) => name === path && file.test(importer));
      return at < 0 ? undefined : { path: String(at), namespace: 'unused', sideEffects: false };
    });
    build.onResolve({ filter: /^(@nestjs\/|\.)/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === resolved || !(path.startsWith('@nestjs/') || nest.test(importer))) return undefined;
      if (kind === 'dynamic-import' && Object.hasOwn(usedOf, path)) return { path, namespace: 'used-of', pluginData: resolveDir };
      const found = await build.resolve(path, { importer, resolveDir, kind, pluginData: resolved });
      // Nest's files only define things, but its package.json does not declare that.
      return { ...found, sideEffects: false };
    });
    build.onLoad({ filter: /.*/, namespace: 'used-of' }, ({ path, pluginData: resolveDir }) => ({ contents: usedOf[path], resolveDir }));
    build.onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({ contents: unused[Number(path)][2] }));
  },
};
