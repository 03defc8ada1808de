import { accessKinds, type KeyRole, routes } from '@conclave/contracts';
import type { Request } from 'express';

/** A path with its parameters unnamed, from the form of the table of routes or of the router. */
const unnamed = (path: string): string => path.replaceAll(/\{\w+\+?\}|[:*]\w+/g, '{}');

const kinds = new Map(routes.map(({ method, path, access }) => [`${method} ${unnamed(path)}`, accessKinds[access]]));

/**
 * The roles whose keys the route of a request accepts. Reads the path that the router matched: the router takes spellings of an address that the
 * pattern of the table does not. Throws an Error for a route that is not in the table.
 */
export function rolesFor({ method, route }: Pick<Request, 'method' | 'route'>): readonly KeyRole[] {
  const { path } = route as { readonly path: string };
  const name = `${method === 'HEAD' ? 'GET' : method} ${unnamed(path)}`;
  const kind = kinds.get(name);
  if (!kind) throw new Error(`${name} is not in the table of routes.`);
  return kind.roles;
}
