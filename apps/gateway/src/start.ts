import { awaitedTools, runProcess } from '@conclave/host';
import type { OpenProbe } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { openDoors, type Doors } from './doors.js';
import { openGatewayApp, openTemplates } from './gateway-app.js';

const defaultPort = 8080;

/** Runs the service until a signal ends it. Only tests pass a probe. */
export async function start(openProbe?: OpenProbe): Promise<void> {
  let doors: Doors;
  await runProcess({
    service: 'gateway',
    variables: process.env,
    cwd: process.cwd(),
    openProbe,
    extend: async (configuration) => (await import('@conclave/extensions')).loadExtensions(configuration),
    categories: Object.keys(expertPrompts),
    // Checked before anything is opened: a gateway that may not listen must not wait for its stores first.
    check: (loaded) => {
      doors = openDoors({ loaded, host: loaded.environment.HOST, adminKeyFile: null });
    },
    beside: async ({ loaded, observers, ports, identity }) => {
      const options = { loaded, observers, ports, doors, processId: identity.id };
      const catalogue = await openTemplates(options);
      for (const warning of catalogue.found().warnings) observers.logger.warn(warning);
      const app = await openGatewayApp(options, catalogue);
      const { logger, readiness } = observers;
      // Workers list them.
      readiness.add('tools', awaitedTools({ ...loaded, state: ports.state, logger, refresh: catalogue.refresh }));
      const { HOST, PORT = defaultPort } = loaded.environment;
      await app.listen(PORT, HOST);
      const { admin, asked } = doors;
      if (admin?.made) observers.logger.info('A key with the role admin was made.', { file: admin.file });
      if (asked === 0 && loaded.configuration.access === 'open') observers.logger.warn('Every caller is answered: `access: open`.');
      observers.logger.info('The gateway listens.', { address: await app.getUrl(), templates: catalogue.templates().map(({ id }) => id) });
      return app;
    },
  });
}
