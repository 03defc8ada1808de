import module from 'node:module';

// Modules imported after this are compiled once and cached for later starts, if Node can.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
const { start } = await import('./start.js');
await start();
