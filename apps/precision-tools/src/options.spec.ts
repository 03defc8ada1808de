import { describe, expect, it } from '@jest/globals';
import { readOptions } from './options.js';

describe('the options', () => {
  it('serve stdio unless HTTP is asked for', () => {
    expect(readOptions([], {})).toMatchObject({ http: false, lawUrl: undefined });
    expect(readOptions(['--http', '--port', '0', '--host', '::1', '--allow-host', 'a', '--allow-host', 'b'], {})).toMatchObject({
      http: true,
      port: 0,
      host: '::1',
      allowedHosts: ['a', 'b'],
    });
  });

  it('prefer the law server of the command line to that of the environment', () => {
    const environment = { CONCLAVE_LAW_URL: 'http://environment' };
    expect(readOptions([], environment).lawUrl).toBe('http://environment');
    expect(readOptions(['--law-url', 'http://line'], environment).lawUrl).toBe('http://line');
    expect(readOptions([], { CONCLAVE_LAW_URL: '' }).lawUrl).toBeUndefined();
  });

  it('list every tool unless only the usable ones are requested', () => {
    expect([readOptions([], {}).onlyUsable, readOptions(['--only-usable'], {}).onlyUsable]).toEqual([false, true]);
  });

  it('report what is invalid', () => {
    expect(() => readOptions(['--port', 'x'], {})).toThrow('from 0 to 65535');
    expect(() => readOptions(['--prot', '1'], {})).toThrow('--prot');
  });
});
