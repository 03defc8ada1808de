import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { loadPart } from './api/load-part.js';
import { pageRoutes } from './routes.js';
import { NotFound } from './shell/not-found.js';
import { PageFailed } from './shell/page-failed.js';
import { Shell } from './shell/shell.js';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** The name of the default export, as the router's helper expects it. */
const pages = pageRoutes.map(({ path, load }) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(() => loadPart(load), 'default') }),
);

export const router = createRouter({
  routeTree: root.addChildren(pages),
  defaultErrorComponent: PageFailed,
  defaultPreload: 'intent',
  scrollRestoration: true,
});
