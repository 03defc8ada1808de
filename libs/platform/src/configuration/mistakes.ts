import { Failure } from '@conclave/contracts';

/** One mistake in an operator's input, with its place and remedy. */
export interface Mistake {
  /** `conclave.yaml:12:5`, or the name of an environment variable. */
  readonly where: string;
  /** Line in the file; 0 for the environment. */
  readonly line: number;
  /** Setting, written `templates.research.max_agentic_rounds`. */
  readonly setting: string;
  readonly problem: string;
  readonly remedy: string;
}

const sentence = ({ where, setting, problem, remedy }: Mistake): string =>
  `  ${where}${setting && setting !== where ? `  ${setting}` : ''}: ${problem} ${remedy}`;

/** One failure with every mistake, in file order. */
export function refuse(mistakes: readonly Mistake[]): Failure {
  const sorted = [...mistakes].sort((a, b) => a.line - b.line);
  const count = sorted.length === 1 ? 'One mistake' : `${sorted.length} mistakes`;
  return new Failure('CONFIGURATION_INVALID', `${count}:\n${sorted.map(sentence).join('\n')}`, { context: { mistakes: sorted } });
}

/** Mistakes of a Failure made by `refuse`. */
export const mistakesOf = (failure: Failure): readonly Mistake[] =>
  (failure.options.context?.mistakes as readonly Mistake[] | undefined) ?? [];

export const settingName = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name ? `${name}.${String(step)}` : String(step)),
    '',
  );
