// A strategy that accepts every command: rounds of steps, each judged, with questions to the user.
export default ({ strategy, question, writer }) => {
  const step = (id, text) => ({
    do: 'dispatch',
    tasks: [
      {
        spec: { id, capability: 'expert.general', task: text, query: null, needs: [], metadata_filters: null },
        action: null,
        models: ['scripted@fake'],
        learn: 'settled',
        stream: 'held',
      },
    ],
  });
  return {
    strategies: [
      strategy({
        id: 'stepping',
        commands: ['cancel', 'pause', 'resume', 'steer', 'add_context', 'override_step', 'answer'],
        limits: { rounds: 9, adjusts: 5, stall: null, asks: true },
        initial: () => ({ draft: null, unwritten: null, seen: null }),
        judges: {
          look: {
            task: 'Look whether it is enough',
            question: question({
              name: 'look',
              prompt: ({ goal }) => [
                { role: 'system', content: 'You look whether it is enough.' },
                { role: 'user', content: `QUESTION: ${goal}` },
              ],
              read: ({ json }) => (json ? { output: json } : { faults: ['There is no JSON.'] }),
            }),
            input: ({ run }) => ({ kind: 'values', values: { goal: run.request.goal } }),
            take: (own, { result }) => ({ ...own, seen: result?.output?.values ?? {} }),
          },
          write: writer,
        },
        evolve: (own, fact) => (fact.kind === 'RoundClosed' || fact.kind === 'PlanTaken' ? { ...own, seen: null } : own),
        next: ({ run, own }) => {
          if (run.ending) {
            if (own.draft) return [{ do: 'say', draft: own.draft }];
            return own.unwritten === null ? [{ do: 'judge', name: 'write', from: 'reserve', composes: true }] : [];
          }
          if (run.plan === null && run.round === null) return [{ do: 'plan' }];
          if (own.seen === null) return [{ do: 'judge', name: 'look' }];
          if (own.seen.question) return [{ do: 'decide', reading: { by: 'assessment', question: own.seen.question } }];
          return [
            { do: 'decide', reading: { by: 'assessment', sufficient: own.seen.enough === true, open: own.seen.enough ? '' : 'more' } },
          ];
        },
        onDecided: (_view, then) => [then === 'ask_user' ? { do: 'ask', question: 'Which one?' } : { do: 'plan' }],
        onCommand: ({ run }, command) =>
          command.name === 'answer'
            ? [step(`answered-${run.rounds}`, `OWN STEP: with the answer ${command.text}`)]
            : [
                { do: 'cancel', what: 'plan' },
                { do: 'cancel', what: 'open' },
                step(`own-${run.commands.length}`, `OWN STEP: ${command.input}`),
              ],
      }),
    ],
  };
};
