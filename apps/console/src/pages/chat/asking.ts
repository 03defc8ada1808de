import type { ModelList, RunAccepted } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { postOnce } from '../../api/post-once.js';
import { withoutSourceList } from '../../run/markdown-blocks.js';
import type { ChatMode, Thread, Turn } from './thread.js';

/** The strategy whose runs proceed step by step. */
const stepwise = 'reasoning';

/** Templates for a mode, and whether only the demo model is available. */
export function useTemplates() {
  const { data, error, refetch } = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => api.get<ModelList>('/v1/models', signal),
  });
  const all = data?.data ?? [];
  const templates = all.filter(({ owned_by: owner, strategy }) => owner === 'conclave' && strategy !== undefined);
  const models = all.filter(({ owned_by: owner }) => owner !== 'conclave');
  return {
    isKnown: data !== undefined,
    error,
    refetch,
    of: (mode: ChatMode) => templates.filter(({ strategy }) => (strategy === stepwise) === (mode === 'reasoning')),
    models,
    isDemo: data !== undefined && models.length > 0 && models.every(({ owned_by: owner }) => owner === 'demo'),
  };
}

interface Question {
  readonly model: string;
  readonly question: string;
  /** Earlier turns of the conversation. */
  readonly thread: Thread;
  /** Answers without the cache, even if a cached answer exists. */
  readonly fresh?: boolean;
}

/** Starts a run, which continues when this page is closed. Throws ApiError. */
export async function ask({ model, question, thread, fresh }: Question): Promise<Turn> {
  const history = thread.turns.flatMap(({ runId, question: earlier }) => {
    const answer = thread.answers[runId];
    return answer
      ? [
          { role: 'user', content: earlier },
          { role: 'assistant', content: withoutSourceList(answer) },
        ]
      : [];
  });
  const { id } = await postOnce<RunAccepted>('/v1/runs', {
    model,
    messages: [...history, { role: 'user', content: question }],
    ...(fresh ? { conclave: { cache: false } } : {}),
  });
  return { runId: id, question, model };
}
