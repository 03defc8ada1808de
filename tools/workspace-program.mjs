import ts from 'typescript';
import { workspaceRoot } from './workspace.mjs';

let program;

/** All sources of the workspace as one TypeScript program, made once in a process: what it has computed for one reader serves the next. */
export function workspaceProgram() {
  return (program ??= openProgram());
}

function openProgram() {
  const host = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(textOf([diagnostic]));
    },
  };
  const { fileNames, options, projectReferences, errors } = ts.getParsedCommandLineOfConfigFile(`${workspaceRoot}/tsconfig.json`, {}, host);
  return ts.createProgram({
    rootNames: fileNames,
    options,
    projectReferences,
    configFileParsingDiagnostics: errors,
    // Lint walks the trees upwards.
    host: ts.createCompilerHost(options, true),
  });
}

/** What `tsc --noEmit` would print, or an empty text. */
export function typeErrors() {
  return textOf(ts.sortAndDeduplicateDiagnostics(ts.getPreEmitDiagnostics(workspaceProgram())));
}

function textOf(diagnostics) {
  return ts.formatDiagnostics(diagnostics, {
    getCurrentDirectory: () => workspaceRoot,
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  });
}
