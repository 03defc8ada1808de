import type { GraphFacts } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useSession } from '../../api/session.js';
import { counted } from '../../components/figures.js';
import { Page } from '../../components/page.js';
import { Collections } from './collections.js';
import { GraphExplorer } from './graph-explorer.js';
import { Quarantine } from './quarantine.js';

const parts = { graph: 'Graph', quarantine: 'Contradictions', collections: 'Collections' } as const;
type Part = keyof typeof parts;

/** What runs know besides their models: the graph learned from answers, contradictions to it, and uploaded documents. */
export default function KnowledgePage() {
  const { role } = useSession();
  const [part, setPart] = useState<Part>('graph');
  const { data: facts } = useQuery({
    queryKey: ['knowledge'],
    queryFn: ({ signal }) => api.get<GraphFacts>('/v1/knowledge', signal),
  });
  const shown = (Object.keys(parts) as Part[]).filter((name) => name !== 'quarantine' || role === 'admin');
  return (
    <Page
      title="Knowledge"
      lead={
        facts
          ? `${counted(facts.entities, 'entity', 'entities')}, ${counted(facts.relations, 'relation')}, ${counted(facts.insights, 'insight')}, ${counted(facts.quarantined, 'open contradiction')}`
          : 'What answers taught, and your documents'
      }
      actions={
        <fieldset className="choice bare">
          <legend>Part of the knowledge</legend>
          {shown.map((name) => (
            <label key={name}>
              <input type="radio" name="knowledge-part" checked={part === name} onChange={() => setPart(name)} />
              <span>{parts[name]}</span>
            </label>
          ))}
        </fieldset>
      }
    >
      {part === 'graph' && <GraphExplorer />}
      {part === 'quarantine' && <Quarantine />}
      {part === 'collections' && <Collections />}
    </Page>
  );
}
