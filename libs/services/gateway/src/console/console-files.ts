import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';

/** The files that the page loads, as listed by the build of the console. */
export interface ConsoleManifest {
  /** Names under /assets/. */
  readonly script: string;
  readonly modules: readonly string[];
  readonly styles: readonly string[];
}

export interface ConsoleFile {
  readonly type: string;
  readonly content: Buffer;
  readonly encoding: 'gzip' | null;
}

const types: Readonly<Record<string, string>> = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' };

/** The built console in its folder; absent if it was not built. Only names listed from the folder are served, so no path leads outside it. */
@Injectable()
export class ConsoleFiles {
  private readonly folder: string | null;
  private names: Promise<ReadonlySet<string>> | null = null;
  private readonly kept = new Map<string, Promise<ConsoleFile>>();
  readonly manifest: ConsoleManifest | null;

  constructor(@Inject(GATEWAY_OPTIONS) { consoleFolder }: GatewayOptions) {
    const manifest = consoleFolder ? join(consoleFolder, 'manifest.json') : null;
    const isBuilt = manifest !== null && existsSync(manifest);
    this.folder = isBuilt ? consoleFolder! : null;
    this.manifest = isBuilt ? (JSON.parse(readFileSync(manifest, 'utf8')) as ConsoleManifest) : null;
  }

  /** A file of the console, compressed if the reader accepts that; null for an unknown name. */
  async read(name: string, gzip: boolean): Promise<ConsoleFile | null> {
    const type = types[extname(name)];
    if (this.folder === null || !type) return null;
    const names = await (this.names ??= readdir(this.folder).then((all) => new Set(all)));
    if (!names.has(name)) return null;
    const path = gzip && names.has(`${name}.gz`) ? `${name}.gz` : name;
    const file = this.kept.get(path) ?? this.load(path, type);
    this.kept.set(path, file);
    return file;
  }

  private async load(path: string, type: string): Promise<ConsoleFile> {
    return { type, content: await readFile(join(this.folder!, path)), encoding: path.endsWith('.gz') ? 'gzip' : null };
  }
}
