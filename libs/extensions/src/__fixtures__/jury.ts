import type { Extension, ExtensionKit } from '../index.js';

type Own = { draft: string | null; counted: boolean };
type Votes = { goal: string; votes: readonly string[] };
type Count = { winner: string; votes: number };

export default ({ strategy, question, tasksOf, asData, dataRule, z }: ExtensionKit): Extension => {
  const Counted = z.object({ winner: z.string().min(1), votes: z.number() });
  return {
    strategies: [
      strategy<Own, { voters: number }>({
        id: 'jury',
        options: z.strictObject({ voters: z.int().min(2).max(9).default(3) }),
        limits: { rounds: 1, end: 'completed' },
        initial: () => ({ draft: null, counted: false }),
        judges: {
          count: {
            task: 'Count the votes',
            question: question<Votes, Count>({
              name: 'count',
              temperature: 0,
              prompt: ({ goal, votes }) => [
                {
                  role: 'system',
                  content: `Count which answer is given most often. Reply with JSON only: {"winner": "the answer", "votes": 2}. ${dataRule}`,
                },
                { role: 'user', content: `QUESTION: ${goal}\n\n${asData(votes.join('\n'))}` },
              ],
              read: ({ json }) => {
                const read = Counted.safeParse(json);
                return read.success ? { output: read.data } : { faults: ['The reply is not JSON with "winner" and "votes".'] };
              },
            }),
            input: ({ run }) => {
              const votes = tasksOf(run, run.epoch).flatMap(([, { result }]) => (result?.status === 'ok' ? [result.text] : []));
              return { kind: 'values', values: { goal: run.request.goal, votes } satisfies Votes };
            },
            take: (own, { result }) => {
              const { winner, votes } = result?.output?.values ?? {};
              return { ...own, counted: true, draft: winner ? `${String(winner)} (${String(votes)} votes)` : null };
            },
          },
        },
        next: ({ run, own, template }) => {
          if (run.ending) return own.draft ? [{ do: 'say', draft: own.draft }] : [];
          if (tasksOf(run, run.epoch).length === 0) {
            const voters = Array.from({ length: template.options.voters }, (_, n) => `v${n + 1}`);
            const vote = { capability: 'expert.general', task: run.request.goal, mayRepeat: true };
            return [{ do: 'dispatch', tasks: voters.map((id) => ({ id, ...vote })) }];
          }
          if (!own.counted) return [{ do: 'judge', name: 'count' }];
          return [{ do: 'decide', reading: { by: 'assessment', sufficient: own.draft !== null } }];
        },
      }),
    ],
  };
};
