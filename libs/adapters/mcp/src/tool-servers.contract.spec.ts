import { describe } from '@jest/globals';
import { silentLogger } from '@conclave/platform';
import { describeToolServers, sampleTools } from '@conclave/ports/suites';
import { plainProgram } from './__fixtures__/programs.js';
import { sampleAddress } from './__fixtures__/sample-address.js';
import { openToolServers } from './open-tool-servers.js';

const closed = { url: 'http://127.0.0.1:9/mcp' };

describeToolServers('programs', {
  async open() {
    const servers = { sample: plainProgram(), away: { command: 'no-such-program', allow: true } };
    const tools = openToolServers({ servers, environment: process.env, logger: silentLogger });
    return { tools, dispose: () => tools.close() };
  },
});

describe.each([{ json: false }, { json: true }])('over streamable HTTP, $json', (options) => {
  describeToolServers('addresses', {
    async open() {
      const own = sampleTools();
      const { address } = sampleAddress(() => own, options);
      await address.start();
      const tools = openToolServers({ servers: { sample: { url: address.url }, away: closed }, environment: {}, logger: silentLogger });
      return {
        tools,
        async dispose() {
          await tools.close();
          await address.stop();
        },
      };
    },
  });
});
