import { runProcess } from '@conclave/adapter-selection';
import { expertPrompts } from '@conclave/strategies';
import { openGatewayApp, openTemplates } from './gateway-app.js';

const defaultPort = 8080;

/** Runs the process until a signal ends it. */
export async function start(): Promise<void> {
  await runProcess({
    service: 'gateway',
    variables: process.env,
    cwd: process.cwd(),
    categories: Object.keys(expertPrompts),
    beside: async ({ loaded, observers, ports }) => {
      const options = { loaded, observers, ports };
      const catalogue = await openTemplates(options);
      for (const warning of catalogue.found().warnings) observers.logger.warn(warning);
      const app = await openGatewayApp(options, catalogue);
      const { HOST, PORT = defaultPort } = loaded.environment;
      await app.listen(PORT, HOST);
      observers.logger.info('The gateway listens.', { address: await app.getUrl(), templates: catalogue.templates().map(({ id }) => id) });
      return app;
    },
  });
}
