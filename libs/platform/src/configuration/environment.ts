import { Environment, expectation, shapeOf, type Shape } from '@conclave/contracts';
import { refuse, type Mistake } from './mistakes.js';

/** Environment variables of the process; an empty value counts as absent. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Valid values of the environment, and a mistake for each invalid one, to be reported together with the file's. */
export function parseEnvironment(variables: Variables): {
  readonly environment: Environment;
  readonly mistakes: readonly Mistake[];
} {
  const present = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = Environment.safeParse(present);
  if (parsed.success) return { environment: parsed.data, mistakes: [] };
  const shape: Shape = shapeOf(Environment);
  const mistakes = parsed.error.issues.map((issue): Mistake => {
    const name = String(issue.path[0]);
    const secret = /KEY|PASSWORD|TOKEN|SECRET|HEADERS/.test(name);
    const one = shape.properties?.[name];
    return {
      where: name,
      line: 0,
      setting: name,
      problem: secret ? 'the value is not allowed.' : `"${String(present[name]).slice(0, 60)}" is not allowed.`,
      remedy: `Set it to ${one ? expectation(one.anyOf ?? [one]) : 'another value'}, or unset it.`,
    };
  });
  const good = Object.entries(present).filter(([name]) => !mistakes.some(({ setting }) => setting === name));
  return { environment: Environment.parse(Object.fromEntries(good)), mistakes };
}

/** Returns the environment. Throws Failure CONFIGURATION_INVALID naming every invalid variable. */
export function readEnvironment(variables: Variables): Environment {
  const { environment, mistakes } = parseEnvironment(variables);
  if (mistakes.length > 0) throw refuse(mistakes);
  return environment;
}
