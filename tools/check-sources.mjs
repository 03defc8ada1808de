// Types and lint of the whole workspace in one process. The rules of lint ask for types, so both would check every source: one program
// that both read costs little more than one of the two.
import { ESLint } from 'eslint';
import { typeErrors } from './workspace-program.mjs';
import { workspaceRoot } from './workspace.mjs';

process.env.LINT_SCOPE = 'workspace';
const types = typeErrors();
const lint = new ESLint({ cwd: workspaceRoot });
const results = await lint.lintFiles(['.']);
const problems = await (await lint.loadFormatter('stylish')).format(results);
if (types) console.error(types);
if (problems) console.error(problems);
// A warning counts like an error, as with `eslint --max-warnings=0`.
process.exitCode = types || results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0) ? 1 : 0;
