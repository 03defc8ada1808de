import { randomBytes } from 'node:crypto';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import { Failure } from '@conclave/contracts';
import type { Request, Response } from 'express';
import { Callers } from '../http/caller.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { ConsoleFiles } from './console-files.js';
import { consolePage, consolePolicy } from './console-page.js';
import { frontPage, frontPagePolicy } from './front-page.js';

/** The web console. Its page and files are public and hold no data. */
@Controller()
export class ConsoleController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(ConsoleFiles) private readonly files: ConsoleFiles,
  ) {}

  /** The console for browsers; a plain-text page for clients that do not ask for HTML, and when the console is not built. */
  @Get()
  async front(@Req() request: Request, @Res() response: Response): Promise<void> {
    if (this.files.manifest && wantsHtml(request)) return this.page(response);
    const models = (await this.callers.maySeeReasons(request)) ? this.options.catalogue.templates().map(({ id }) => id) : null;
    response.setHeader('content-security-policy', frontPagePolicy);
    response.setHeader('cache-control', 'no-store');
    response.setHeader('vary', 'accept');
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(frontPage(`${request.protocol}://${request.headers.host ?? ''}`, models));
  }

  /** Every page inside the console is the same file: its scripts read the path. */
  @Get('console/*page')
  inner(@Req() request: Request, @Res() response: Response): void {
    if (!this.files.manifest)
      throw new Failure('ROUTE_NOT_FOUND', 'The console was not built: run `npm run build`, then restart the gateway.');
    this.page(response);
  }

  /** A new build has new names, so a browser may cache these permanently. */
  @Get('assets/:name')
  async asset(@Req() request: Request, @Res() response: Response, @Param('name') name: string): Promise<void> {
    const file = await this.files.read(name, request.acceptsEncodings('gzip') === 'gzip');
    if (!file) throw new Failure('ROUTE_NOT_FOUND', 'The console has no such file. After an update, load the page again.');
    response.setHeader('content-type', file.type);
    if (file.encoding) response.setHeader('content-encoding', file.encoding);
    response.setHeader('vary', 'accept-encoding');
    response.setHeader('cache-control', 'public, max-age=31536000, immutable');
    response.setHeader('x-content-type-options', 'nosniff');
    response.end(file.content);
  }

  private page(response: Response): void {
    const nonce = randomBytes(16).toString('base64url');
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.setHeader('content-security-policy', consolePolicy(nonce));
    response.setHeader('cache-control', 'no-store');
    response.setHeader('vary', 'accept');
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('referrer-policy', 'same-origin');
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    response.end(consolePage(this.files.manifest!, nonce));
  }
}

/** Browsers list HTML first; other clients accept anything. */
const wantsHtml = ({ headers }: Request): boolean => /\btext\/html\b/i.test(headers.accept ?? '');
