import type { ComponentType } from 'react';
import type { Role, Session } from './api/session.js';
import type { IconName } from './components/icons.js';

export interface PageRoute {
  /** Path for the router; `$name` is a parameter. Every page except the first is under /console/. */
  readonly path: string;
  readonly title: string;
  /** Icon in the navigation; absent for pages that are reached from others. */
  readonly icon?: IconName;
  /** Roles that see it in the navigation; the API decides what they may read and do. */
  readonly roles: readonly Role[];
  /** Only for readers who may also ask and change things. */
  readonly changes?: true;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

const admins: readonly Role[] = ['admin'];
const everyone: readonly Role[] = ['user', 'auditor', 'admin'];

/** Whether the reader of a session may open a page. */
export const maySee = ({ roles, changes }: PageRoute, { role, may_change }: Session): boolean =>
  roles.includes(role) && (may_change || !changes);

/** All pages. A page is one folder in `pages/` with a default export, and one entry here. */
export const pageRoutes: readonly PageRoute[] = [
  { path: '/', title: 'Chat', icon: 'chat', roles: everyone, changes: true, load: () => import('./pages/chat/chat-page.js') },
  { path: '/console/chat/$runId', title: 'Chat', roles: everyone, load: () => import('./pages/chat/chat-page.js') },
  { path: '/console/runs', title: 'Runs', icon: 'runs', roles: everyone, load: () => import('./pages/runs/runs-page.js') },
  { path: '/console/runs/$runId', title: 'Run', roles: everyone, load: () => import('./pages/run/run-page.js') },
  { path: '/console/compare', title: 'Compare runs', roles: everyone, load: () => import('./pages/compare/compare-page.js') },
  {
    path: '/console/knowledge',
    title: 'Knowledge',
    icon: 'knowledge',
    roles: everyone,
    load: () => import('./pages/knowledge/knowledge-page.js'),
  },
  { path: '/console/caches', title: 'Caches', icon: 'caches', roles: admins, load: () => import('./pages/caches/caches-page.js') },
  {
    path: '/console/settings',
    title: 'Settings',
    icon: 'settings',
    roles: admins,
    load: () => import('./pages/settings/settings-page.js'),
  },
  { path: '/console/health', title: 'Health', icon: 'health', roles: admins, load: () => import('./pages/health/health-page.js') },
];
