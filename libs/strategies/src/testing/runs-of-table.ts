import { expert, research } from './scenario.js';
import {
  answerAfter,
  broken,
  call,
  committee,
  decided,
  inWaves,
  open,
  rounds,
  row,
  wave,
  words,
  type ScriptedRun,
} from './scripted-run.js';

/** Runs that take each row of the decision table. */
export const rowsOfTable: readonly ScriptedRun[] = [
  row(
    'cancelled while it plans',
    'D1',
    'cancelled',
    /no longer needed/,
    committee((run) => run.cancel()),
  ),
  row(
    'cancelled while it collects',
    'D1',
    'cancelled',
    /no longer needed/,
    committee((run) => {
      run.planned(0, [expert('x', 'say')]);
      run.cancel();
    }),
  ),
  row(
    'enough after one round',
    'D3',
    'completed',
    /sufficient after 1 round/,
    committee((run) => {
      run.planned(0, [research('r', 'q')]);
      run.found('r', 'a');
      run.judged('complete');
      answerAfter(run);
    }),
  ),
  row(
    'enough after a re-plan',
    'D3',
    'completed',
    /sufficient after 2 rounds/,
    committee((run) => {
      rounds(run, [words[0]!, 'a']);
      run.planned(1, [research('r', words[1]!)]);
      run.found('r', 'b');
      run.judged('complete');
      answerAfter(run);
    }),
    'D9',
  ),
  row(
    'a verdict that nobody can read',
    'D3',
    'completed',
    /no readable verdict/,
    committee((run) => {
      run.planned(0, [research('r', 'q')]);
      run.found('r', 'a');
      run.result('judge.gap', {
        output: { kind: 'assessment', assessment: { verdict: 'complete', gap: '', nextFocus: '', parsed: false } },
      });
      answerAfter(run);
    }),
  ),
  row(
    'a gap check that fails',
    'D3',
    'completed',
    /gap check failed/,
    committee((run) => {
      run.planned(0, [research('r', 'q')]);
      run.found('r', 'a');
      run.result('judge.gap', broken);
      answerAfter(run);
    }),
  ),
  row(
    'waves until the planner is done',
    'D3',
    'completed',
    /nothing more is needed/,
    inWaves((run) => {
      wave(run, 0, 'continue', [call('a', 'stock.count', 'nut')]);
      run.found('a', '3');
      wave(run, 1, 'done', [call('b', 'stock.count', 'saw')]);
      run.found('b', '4');
      answerAfter(run);
    }),
    'D11',
  ),
  row(
    'waves without a call',
    'D3',
    'completed',
    /nothing more is needed/,
    inWaves((run) => {
      wave(run, 0, 'done', []);
      answerAfter(run);
    }),
  ),
  row(
    'waves whose calls all fail',
    'D4',
    'stuck',
    /3 rounds in a row failed/,
    inWaves((run) => {
      for (const epoch of [0, 1, 2]) {
        wave(run, epoch, 'continue', [call(`c${epoch}`, 'stock.count', `${epoch}`)]);
        run.failed(`c${epoch}`);
      }
      answerAfter(run);
    }),
  ),
  row(
    'a model that says it is stuck',
    'D4',
    'stuck',
    /cannot go on/,
    decided((run) => run.found('r', 'a'), [{ ...open, model: 'stuck' }]),
  ),
  row(
    'replies of the decider that are invalid',
    'D4',
    'stuck',
    /rounds in a row failed/,
    decided(
      (run) => {
        run.failed('r');
        for (const n of [1, 2]) {
          run.planned(n, [research('r', words[n]!)]);
          run.failed('r');
        }
      },
      [
        { ...open, invalid: true },
        { ...open, invalid: true },
        { ...open, invalid: true },
      ],
      { stall: null },
    ),
  ),
  row(
    'a planner that answers no re-plan',
    'D4',
    'stuck',
    /no further plan/,
    committee((run) => {
      rounds(run, [words[0]!, 'a']);
      run.planFailed(1);
      answerAfter(run);
    }),
  ),
  row(
    'a held plan goes on, step by step',
    'D5',
    'completed',
    /sufficient/,
    decided(
      (run) => {
        run.found('r', 'a');
        run.found('more.1', 'b');
      },
      [{ ...open, held: 1 }],
    ),
  ),
  row(
    'one round where nothing is assessed',
    'D6',
    'completed',
    /one round of this template/,
    committee(
      (run) => {
        run.planned(0, [research('r', 'q')]);
        run.found('r', 'a');
        answerAfter(run);
      },
      { strategy: 'single-pass' },
    ),
  ),
  row(
    'no re-plan allowed',
    'D6',
    'completed',
    /one round of this template/,
    committee(
      (run) => {
        run.planned(0, [research('r', 'q')]);
        run.found('r', 'a');
        answerAfter(run);
      },
      { max_agentic_rounds: 0 },
    ),
  ),
  row(
    'all rounds used',
    'D6',
    'limit_reached',
    /All 2 rounds were used; still open: the year/,
    committee(
      (run) => {
        rounds(run, [words[0]!, 'a'], [words[1]!, 'b']);
        answerAfter(run);
      },
      { max_agentic_rounds: 1 },
    ),
  ),
  row(
    'all waves used',
    'D6',
    'limit_reached',
    /planner wanted more calls/,
    inWaves(
      (run) => {
        for (const epoch of [0, 1]) {
          wave(run, epoch, 'continue', [call(`c${epoch}`, 'stock.count', `${epoch}`)]);
          run.found(`c${epoch}`, `${epoch} pieces`);
        }
        answerAfter(run);
      },
      { options: { max_waves: 2 } },
    ),
  ),
  row(
    'a stall is answered by another plan',
    'D7',
    'completed',
    /what was tried is forbidden/,
    committee(
      (run) => {
        rounds(run, [words[0]!, 'a'], [words[1]!, null], [words[2]!, null]);
        run.planned(3, [research('r', words[3]!)]);
        run.found('r', 'b');
        run.judged('complete');
        answerAfter(run);
      },
      { max_agentic_rounds: 4 },
    ),
    'stall',
  ),
  row(
    'a stall that goes on',
    'D8',
    'stalled',
    /no new fact.* again/,
    committee(
      (run) => {
        rounds(run, ...words.slice(0, 4).map((word, n) => [word, n === 0 ? 'a' : null] as const));
        answerAfter(run);
      },
      { max_agentic_rounds: 4 },
    ),
    'stall',
  ),
  row(
    'a stall without re-plans',
    'D8',
    'stalled',
    /no re-plan is left/,
    decided(
      (run) => {
        run.found('r');
        run.found('more.1');
      },
      [
        { by: 'assessment', model: 'continue' },
        { by: 'assessment', model: 'continue' },
      ],
      { adjusts: 0 },
    ),
    'stall',
  ),
  row(
    'a gap is planned for',
    'D9',
    'completed',
    /Still missing: the year/,
    committee((run) => {
      rounds(run, [words[0]!, 'a'], [words[1]!, 'b']);
      run.planned(2, [research('r', words[2]!)]);
      run.found('r', 'c');
      run.judged('complete');
      answerAfter(run);
    }),
  ),
  row(
    'the user is asked, and answers',
    'D10',
    'completed',
    /Only the user can say: Which one/,
    decided(
      (run) => {
        run.found('r', 'a');
        run.command(1, { name: 'answer', text: 'red' });
        run.found('answered', 'b');
      },
      [{ by: 'assessment', question: 'Which one?' }],
    ),
  ),
  row(
    'the user is asked, and does not answer',
    'D10',
    'limit_reached',
    /Nobody answered/,
    decided(
      (run) => {
        run.found('r', 'a');
        run.fired();
      },
      [{ by: 'assessment', question: 'Which one?' }],
    ),
    'no reply in time',
    'D2',
  ),
  row(
    'the model decides to go on',
    'D11',
    'completed',
    /the model says: continue/,
    decided(
      (run) => {
        run.found('r', 'a');
        run.found('more.1', 'b');
      },
      [{ by: 'assessment', model: 'continue' }],
    ),
  ),
  row(
    'the model decides to plan anew',
    'D11',
    'completed',
    /the model says: adjust/,
    decided(
      (run) => {
        run.found('r', 'a');
        run.planned(1, [research('r', words[1]!)]);
        run.found('r', 'b');
      },
      [{ by: 'assessment', model: 'adjust' }],
    ),
  ),
];
