// Passes the same point repeatedly and reports it; started by crash-point.slow.spec.ts with CRASH_AT or FREEZE_AT, and HISTORY_FILE.
import { crashPointsOf } from '../crash-point.js';
import { historyFile } from '../history-file.js';

const crashPoints = crashPointsOf(process.env, historyFile(process.env.HISTORY_FILE!, 'child'));
for (let n = 1; n <= 5; n += 1) {
  process.stdout.write(`before ${n}\n`);
  crashPoints.reached('merger', 'after-commit', `event-${n}`);
  crashPoints.reached('experts', 'after-call', `call-${n}`);
}
process.stdout.write('end\n');
