import type { KeyRole } from '../configuration/configuration.js';

interface AccessKind {
  /** Roles whose keys are accepted. */
  readonly roles: readonly KeyRole[];
  readonly doc: string;
}

export type Access = 'open' | 'read' | 'change' | 'again' | 'direct' | 'audit' | 'administer' | 'operate';

/** Every route belongs to one of these. Whatever the role, a key reaches only its own tenant, except where all tenants are named. */
export const accessKinds: Readonly<Record<Access, AccessKind>> = {
  open: { roles: ['user', 'auditor', 'admin'], doc: 'also answers without a key, even if keys are configured' },
  read: { roles: ['user', 'auditor', 'admin'], doc: 'reads; no model is asked for an answer' },
  change: { roles: ['user', 'admin'], doc: 'asks a model, or changes runs, answers, documents or ratings' },
  again: {
    roles: ['user', 'auditor', 'admin'],
    doc: 'drives a recorded run again as a new run; nothing is learned from the new run of an auditor',
  },
  direct: { roles: ['user', 'auditor', 'admin'], doc: 'sends a command to a run; an auditor only to runs that it started itself' },
  audit: { roles: ['auditor', 'admin'], doc: 'reads the audit; a key is always needed; admins of `default` read that of all tenants' },
  administer: { roles: ['admin'], doc: 'administers a tenant; a key is always needed; admins of `default` administer all tenants' },
  operate: { roles: ['admin'], doc: 'only for admins of the tenant `default`: all tenants share what it reads or changes' },
};
