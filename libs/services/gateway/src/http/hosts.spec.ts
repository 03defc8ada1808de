import { describe, expect, it } from '@jest/globals';
import { authorityOf, isLoopback, refusalOfHost } from './hosts.js';

const rules = { allowedHosts: ['host.docker.internal', 'Conclave.example:8443', '[fd00::7]'], open: false };
/** The refusal of a request with these hosts, origin and target; null when it is allowed. */
const said = (
  hosts: string | readonly string[],
  { origin, url = '/v1/models', open = false }: { origin?: string; url?: string; open?: boolean } = {},
) =>
  refusalOfHost(
    { headers: origin === undefined ? {} : { origin }, rawHeaders: [hosts].flat().flatMap((host) => ['HoSt', host]), url },
    { ...rules, open },
  )?.code ?? null;

describe('the host of a request without required keys', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1:8080',
    '127.9.9.9:1',
    'localhost',
    'LOCALHOST:8080',
    'localhost.',
    'localhost.:8080',
    '[::1]',
    '[::1]:8080',
    '[0:0:0:0:0:0:0:1]:8080',
    '[::ffff:127.0.0.1]:8080',
    '[::FFFF:7F00:1]',
    'host.docker.internal',
    'host.docker.internal:8080',
    'HOST.docker.internal.:1',
    'conclave.example:8443',
    '[FD00:0::7]:80',
  ])('may be %s', (host) => expect(said(host)).toBeNull());

  it.each(
    [
      'evil.test',
      'evil.test:8080',
      'localhost.evil.com',
      'evil.localhost.com',
      'xlocalhost',
      'localhost..',
      '.localhost',
      '127.0.0.1.nip.io',
      '127.0.0.1.',
      '127.1',
      '0x7f.0.0.1',
      '2130706433',
      '0127.0.0.1',
      '127.0.0.256',
      '0.0.0.0',
      '[::]',
      '192.168.1.5',
      '[::ffff:10.0.0.1]',
      '[::1',
      '::1',
      '[::1%lo]',
      '127.0.0.1@evil.test',
      'evil.test@127.0.0.1',
      'user:pass@127.0.0.1:8080',
      '127.0.0.1:8080@evil.test',
      '127.0.0.1 evil.test',
      '127.0.0.1,evil.test',
      '127.0.0.1/evil',
      '127.0.0.1#evil',
      '127.0.0.1\\@evil.test',
      'http://127.0.0.1',
      '127.0.0.1:',
      '127.0.0.1:123456',
      '',
      ' ',
      'loc\u0430lhost',
      'xn--lclhost-7fg',
      'docker.internal',
      'x.host.docker.internal',
      'host.docker.internal.evil.test',
      'conclave.example',
      'conclave.example:80',
      '[fd00::8]',
    ].filter((host) => host !== '127.0.0.1.'),
  )('may not be %j', (host) => expect(said(host)).toBe('HOST_NOT_ALLOWED'));

  it('must be named exactly once', () => {
    expect(said([])).toBe('HOST_NOT_ALLOWED');
    expect(said(['127.0.0.1', 'evil.test'])).toBe('HOST_NOT_ALLOWED');
    expect(said(['127.0.0.1', '127.0.0.1'])).toBe('HOST_NOT_ALLOWED');
  });

  it('must match the host of a target in absolute form', () => {
    expect(said('127.0.0.1:8080', { url: 'http://127.0.0.1:8080/v1/models' })).toBeNull();
    for (const url of [
      'http://evil.test/v1/models',
      'HTTP://EVIL.test',
      'http://127.0.0.1:9/v1/models',
      'https://u@127.0.0.1:8080/',
      'http:///v1',
    ])
      expect(said('127.0.0.1:8080', { url })).toBe('HOST_NOT_ALLOWED');
    expect(said('127.0.0.1:8080', { url: '//evil.test/v1/models' })).toBeNull();
  });

  it('may be any IP address, but still no name, when other machines may connect', () => {
    for (const host of ['192.168.1.5:8080', '[2001:db8::1]:8080', '10.0.0.9']) expect(said(host, { open: true })).toBeNull();
    for (const host of ['evil.test', '192.168.1.5.nip.io', '192.168.1']) expect(said(host, { open: true })).toBe('HOST_NOT_ALLOWED');
  });
});

describe('the origin of a request without required keys', () => {
  it.each([
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['localhost', 'http://localhost'],
    ['localhost:80', 'http://LOCALHOST'],
    ['host.docker.internal', 'https://host.docker.internal'],
    ['[::1]:8080', 'http://[::1]:8080'],
  ])('of %s may be %s', (host, origin) => expect(said(host, { origin })).toBeNull());

  it.each([
    'null',
    '',
    'http://evil.test',
    'http://evil.test:8080',
    'http://localhost:8080',
    'http://127.0.0.1',
    'http://127.0.0.1:8081',
    'https://127.0.0.1:8080/x',
    'http://127.0.0.1:8080@evil.test',
    'http://127.0.0.1.evil.test:8080',
    'file://',
    'app://127.0.0.1:8080',
    'chrome-extension://abc',
    '127.0.0.1:8080',
    'http://127.0.0.1:8080 http://evil.test',
  ])('of 127.0.0.1:8080 may not be %j', (origin) => expect(said('127.0.0.1:8080', { origin })).toBe('ORIGIN_NOT_ALLOWED'));
});

describe('a loopback name', () => {
  it('is one on which only this machine listens', () => {
    expect(['127.0.0.1', '127.8.8.8', 'localhost', '::1', '::ffff:127.0.0.1'].filter(isLoopback)).toHaveLength(5);
    expect(
      ['0.0.0.0', '::', '', '10.0.0.1', '127.evil.com', 'localhost.evil.com', '::2', '::ffff:10.0.0.1', '127.1'].filter(isLoopback),
    ).toEqual([]);
    expect(authorityOf('EXAMPLE.com.:80')).toEqual({ name: 'example.com', port: 80 });
  });
});
