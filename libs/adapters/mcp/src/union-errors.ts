import type { OutputUnit } from '@cfworker/json-schema';

/** Keywords by which a value belongs to another choice of a union than the one that was tried. */
const telling: ReadonlySet<string> = new Set(['type', 'const', 'enum']);

/**
 * The errors of a check without those of choices that a value does not mean. A validator lists the errors of every choice of a union: of
 * `{"kind": "pickup"}` also what a `delivery` lacks. A choice is meant if its type fits, and its members with fixed values, such as `kind`.
 * If none is meant, only what tells the choices apart stays.
 */
export function withoutOtherChoices(errors: readonly OutputUnit[], containers: ReadonlySet<string>): readonly OutputUnit[] {
  let left = errors;
  for (const union of errors) {
    if ((union.keyword !== 'anyOf' && union.keyword !== 'oneOf') || !left.includes(union)) continue;
    const inside = left.filter(({ keywordLocation }) => keywordLocation.startsWith(`${union.keywordLocation}/`));
    // A value that matches two choices has no error inside.
    if (inside.length === 0) continue;
    const others = left.filter((error) => error !== union && !inside.includes(error));
    left = [
      ...others,
      ...ofMeant(
        union,
        inside.filter(({ keyword }) => !containers.has(keyword)),
      ),
    ];
  }
  return left;
}

function ofMeant(union: OutputUnit, inside: readonly OutputUnit[]): readonly OutputUnit[] {
  const choiceOf = ({ keywordLocation }: OutputUnit): string => keywordLocation.slice(union.keywordLocation.length + 1).split('/', 1)[0]!;
  const tells = ({ keyword, instanceLocation }: OutputUnit): boolean => {
    const under = instanceLocation.slice(union.instanceLocation.length);
    return telling.has(keyword) && (under === '' || (keyword !== 'type' && under.split('/').length === 2));
  };
  const unmeant = new Set(inside.filter(tells).map(choiceOf));
  const meant = inside.filter((error) => !unmeant.has(choiceOf(error)));
  return meant.length > 0 ? meant : joined(inside.filter(tells));
}

/** Errors of the type of one value as one: it may have any of them. */
function joined(errors: readonly OutputUnit[]): readonly OutputUnit[] {
  const types = errors.filter(({ keyword }) => keyword === 'type');
  if (types.length < errors.length || types.length === 0) return errors;
  const named = types.flatMap(({ error }) => /Expected (.*)\.$/s.exec(error)?.[1] ?? []);
  return [{ ...types[0]!, error: `Expected ${[...new Set(named)].join(' or ')}.` }];
}
