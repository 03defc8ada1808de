import { deciding } from './deciding.js';
import { expert, research, Scenario } from './scenario.js';
import {
  answerAfter,
  call,
  committee,
  decided,
  inWaves,
  open,
  rounds,
  row,
  shown,
  using,
  wave,
  words,
  type ScriptedRun,
} from './scripted-run.js';

/** Runs that reach a share of each budget. */
export const budgetRuns: readonly ScriptedRun[] = [
  row(
    '85 % of the model calls',
    'D2',
    'limit_reached',
    /model calls is nearly used up: 9 of 10/,
    committee(
      (run) => {
        run.planned(0, [expert('x', 'say')]);
        using(run, 'x', { calls: 8 });
        answerAfter(run);
      },
      {},
      { model_calls: 10 },
    ),
    'budget 85 %',
    'reserve for the answer',
  ),
  row(
    '85 % of the tokens',
    'D2',
    'limit_reached',
    /tokens is nearly used up/,
    committee(
      (run) => {
        run.planned(0, [expert('x', 'say')]);
        using(run, 'x', { prompt: 176_000 });
        answerAfter(run);
      },
      {},
      { prompt_tokens: 400_000 },
    ),
    'budget 85 %',
    'reserve for the answer',
  ),
  row(
    '85 % of the money',
    'D2',
    'limit_reached',
    /money is nearly used up/,
    committee(
      (run) => {
        run.planned(0, [expert('x', 'say')]);
        using(run, 'x', { cost: 0.9 });
        answerAfter(run);
      },
      {},
      { cost: 1 },
    ),
    'budget 85 %',
    'reserve for the answer',
  ),
  row(
    '85 % of the time',
    'D2',
    'limit_reached',
    /wall time is nearly used up/,
    committee((run) => {
      run.planned(0, [expert('x', 'say'), expert('y', 'say more')]);
      run.answered('x', 'It was Ana.');
      run.now += 256_000;
      run.fired();
      answerAfter(run);
    }),
    'budget 85 %',
    'reserve for the answer',
  ),
  row(
    'a search that waits when the reserve is reached',
    'D2',
    'limit_reached',
    /prompts is used up/,
    committee((run) => {
      run.planned(0, [expert('x', 'say'), expert('y', 'say more', ['x'])]);
      using(run, 'x', { prompt: 80_001 });
      answerAfter(run);
    }),
    'context guard',
    'reserve for the answer',
  ),
  row(
    'all model calls',
    'D2',
    'limit_reached',
    /model calls is used up/,
    committee(
      (run) => {
        run.planned(0, [expert('x', 'say')]);
        using(run, 'x', { calls: 9 });
      },
      {},
      { model_calls: 10 },
    ),
    'budget 100 %',
  ),
  row(
    'all tokens',
    'D2',
    'limit_reached',
    /tokens is used up/,
    committee(
      (run) => {
        run.planned(0, [expert('x', 'say')]);
        using(run, 'x', { prompt: 200_001 });
      },
      {},
      { prompt_tokens: 400_000 },
    ),
    'budget 100 %',
  ),
  row(
    'all the money',
    'D2',
    'limit_reached',
    /money is used up/,
    committee(
      (run) => {
        run.planned(0, [expert('x', 'say')]);
        using(run, 'x', { cost: 1.2 });
      },
      {},
      { cost: 1 },
    ),
    'budget 100 %',
  ),
  row(
    'all the time before anything was found',
    'D2',
    'failed',
    /wall time is used up/,
    committee((run) => {
      run.planned(0, [expert('x', 'say')]);
      run.now += 301_000;
      run.fired();
    }),
    'budget 100 %',
  ),
  row(
    'a pause that lasts too long',
    'D2',
    'limit_reached',
    /paused for too long/,
    committee((run) => {
      run.planned(0, [expert('x', 'say'), expert('y', 'more')]);
      run.answered('x', 'It was Ana.');
      run.command(1, { name: 'pause' });
      for (let n = 0; n < 5 && run.completed() === undefined; n += 1) run.fired();
    }),
    'no reply in time',
  ),
];

/** Runs with repeats, missing replies and endless loops. */
export const guardRuns: readonly ScriptedRun[] = [
  shown(
    '70 %: only the first task of a plan',
    'budget 70 %',
    'limit_reached',
    'D2',
    /nothing is started beside the first task/,
    committee(
      (run) => {
        run.planned(0, [expert('x', 'say')]);
        using(run, 'x', { calls: 4 });
        run.judged('needs_more_info', 'the year');
        run.planned(1, [expert('a', 'the year'), expert('b', 'the place')]);
        run.answered('a', 'In 1871.');
        answerAfter(run);
      },
      {},
      { model_calls: 10 },
    ),
  ),
  shown(
    'the same search again',
    'exact repeat',
    'completed',
    'D3',
    /already known/,
    committee((run) => {
      rounds(run, [words[0]!, 'a']);
      run.planned(1, [research('r', 'Who founded the mill?'), research('s', words[1]!)]);
      run.found('s', 'b');
      run.judged('complete');
      answerAfter(run);
    }),
  ),
  shown(
    'the same search in other words',
    'near repeat',
    'completed',
    'D3',
    /says the same as an earlier action/,
    committee((run) => {
      rounds(run, ['who founded the old mill near the wide river', 'a']);
      run.planned(1, [research('r', 'who founded the old mill near the wide blue river'), research('s', words[1]!)]);
      run.found('s', 'b');
      run.judged('complete');
      answerAfter(run);
    }),
  ),
  shown(
    'a search that failed twice',
    'failed twice',
    'completed',
    'D3',
    /failed twice before/,
    committee((run) => {
      for (const epoch of [0, 1]) {
        run.planned(epoch, [research('r', words[0]!), research('s', words[epoch + 1]!)]);
        run.failed('r');
        run.found('s', `${epoch}`);
        run.judged('needs_more_info', 'the year');
      }
      run.planned(2, [research('r', words[0]!), research('s', words[3]!)]);
      run.found('s', 'c');
      run.judged('complete');
      answerAfter(run);
    }),
  ),
  shown(
    'an order that failed is not placed again',
    'never twice',
    'completed',
    'D3',
    /Not called again/,
    inWaves((run) => {
      wave(run, 0, 'continue', [call('a', 'stock.order', 'nut')]);
      run.failed('a');
      wave(run, 1, 'done', [call('b', 'stock.order', 'nut')]);
      answerAfter(run);
    }),
  ),
  row(
    'two searches over and over',
    'D8',
    'stalled',
    /same one or two over and over/,
    decided(
      (run) => {
        run.found('r', 'a');
        // Each looks again because of something new, and finds the same.
        for (let n = 1; n <= 6 && run.completed() === undefined; n += 1) {
          run.planned(n, [research('free', `look ${n}`), { ...research('r', n % 2 === 0 ? words[1]! : words[2]!), needs: ['free'] }]);
          run.found('free');
          run.found('r');
        }
      },
      Array.from({ length: 9 }, () => ({ ...open })),
      { stuck: 99, stall: null, adjusts: 6 },
    ),
    'A-B-A-B',
  ),
  shown(
    'a first plan that never comes',
    'no reply in time',
    'completed',
    'D3',
    /sufficient/,
    committee((run) => {
      run.fired();
      const [task] = run.dispatched();
      run.answered(task!.split('/')[1]!, 'It was Ana.', 0.9);
      run.judged('complete');
      answerAfter(run);
    }),
  ),
  shown(
    'tasks that nobody serves',
    'no worker',
    'failed',
    'D6',
    /No live worker serves/,
    committee(
      (run) => {
        run.planned(0, [expert('x', 'say')]);
        run.fired({ liveWorkers: 0 });
      },
      { strategy: 'single-pass' },
    ),
  ),
  shown(
    'a task that nobody ends',
    'no reply in time',
    'failed',
    'D6',
    /did not end before its deadline/,
    committee(
      (run) => {
        run.planned(0, [expert('x', 'say')]);
        run.fired({ started: true });
        run.fired({ started: true });
      },
      { strategy: 'single-pass' },
    ),
  ),
  shown('a strategy that goes in circles', 'endless strategy', 'failed', null, /goes in circles/, () => {
    const run = new Scenario(
      { strategy: 'deciding' },
      { ...deciding([]), next: ({ run: { rounds: n } }) => [{ do: 'note', data: { n } }] },
    );
    run.requested();
    return run;
  }),
];
