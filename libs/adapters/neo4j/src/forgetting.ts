import { planForgetting, type QuarantinedTriple } from '@conclave/ports';
import neo4j from 'neo4j-driver';
import { putEntries, putRelations, relationOf, type RelationRow, type TenantTransaction } from './knowledge.js';
import * as statements from './statements.js';

/** Removes what only this run has taught. */
export async function forget(at: TenantTransaction, runId: string): Promise<{ readonly relations: number; readonly syntheses: number }> {
  await at.lock();
  const relations = (await at.run<RelationRow>(statements.taughtRelations, { runId })).map(relationOf);
  const others = await at.run<{ relation: string; run: string }>(statements.taughtByOthers, { runId, ids: relations.map(({ id }) => id) });
  const ratings = await at.ratings([runId]);
  const plan = planForgetting({
    ...{ runId, relations, ratings, others: new Map(others.map(({ relation, run }) => [relation, run])) },
    entries: (await at.run<{ entry: string }>(statements.allQuarantined)).map(({ entry }) => JSON.parse(entry) as QuarantinedTriple),
  });
  await at.run(statements.removeRelations, { relations: plan.removed.map(({ id, subject, object }) => ({ id, subject, object })) });
  await putRelations(at, plan.kept);
  await at.run(statements.removeQuarantined, { ids: plan.removedEntries });
  await putEntries(at, plan.keptEntries);
  const [learned] = await at.run<{ id: string; runs: number; about: readonly string[] }>(statements.learnedBy, { runId });
  const isAlone = learned !== undefined && learned.runs <= 1;
  if (learned && !isAlone) await at.run(statements.rateSyntheses, { runId, good: neo4j.int(-ratings.good), bad: neo4j.int(-ratings.bad) });
  await at.run(statements.removeLearnedRun, { runId });
  if (isAlone) await at.run(statements.removeSynthesis, { id: learned.id });
  for (const statement of [statements.removeTaught, statements.removeRatings, statements.removeIngested])
    await at.run(statement, { runId });
  const named = new Set([...plan.removed.flatMap(({ subject, object }) => [subject, object]), ...(isAlone ? learned.about : [])]);
  const removed = await at.run<{ words: readonly string[] }>(statements.removeUnnamed, { entities: [...named] });
  await at.run(statements.removeUnusedTerms, { words: [...new Set(removed.flatMap(({ words }) => words))] });
  return { relations: plan.removed.length, syntheses: isAlone ? 1 : 0 };
}
