import { relationTypes, type RelationType } from '@conclave/contracts';

/*
 * All statements of the graph. They are constants: values are passed as parameters, and only relation types of the contracts' allow-list
 * occur in a statement.
 */

/** Serializes the writers of one tenant, so that what they read stays current. Taken first, so that no deadlock can occur. */
export const lock = 'MERGE (t:GraphTenant {tenant: $tenant}) SET t.write = $write';

/** The first write of a run wins forever; `$write` distinguishes a retry of the same write from another write. */
export const claimRun = `MERGE (run:LearnedRun {tenant: $tenant, id: $runId})
ON CREATE SET run.synthesis = $id, run.write = $write, run.at = $at, run.answer = $answer, run.sources = $sources
RETURN run.synthesis AS id, run.write = $write AS mine`;

export const putSynthesis = `MERGE (s:Synthesis {tenant: $tenant, id: $id})
ON CREATE SET s.text = $text, s.insight_type = $insightType, s.domain = $domain, s.confidence = $confidence, s.at = $at, s.write = $write,
  s.good = 0, s.bad = 0
SET s.good = coalesce(s.good, 0) + $good, s.bad = coalesce(s.bad, 0) + $bad
WITH s
MATCH (run:LearnedRun {tenant: $tenant, id: $runId})
MERGE (run)-[:LEARNED]->(s)
RETURN s.write = $write AS created`;

/** Keeps the first name and the first type. */
export const putEntities = `UNWIND $entities AS entity
MERGE (e:Entity {tenant: $tenant, normal: entity.normal})
ON CREATE SET e.name = entity.name
SET e.id = entity.id, e.words = entity.words,
  e.type = CASE coalesce(e.type, '') WHEN '' THEN entity.type ELSE e.type END
WITH e, entity
UNWIND entity.terms AS term
MERGE (t:Term {tenant: $tenant, text: term.text})
MERGE (t)-[:NAMES {exact: term.exact}]->(e)`;

export const putAliases = `UNWIND $entities AS entity
MATCH (e:Entity {tenant: $tenant, normal: entity.normal})
SET e.aliases = coalesce(e.aliases, []) + [alias IN entity.aliases WHERE NOT alias IN coalesce(e.aliases, [])]`;

export const linkSynthesis = `MATCH (s:Synthesis {tenant: $tenant, id: $id})
UNWIND $entities AS entity
MATCH (e:Entity {tenant: $tenant, normal: entity.normal})
MERGE (s)-[:RELATED_TO]->(e)`;

const synthesis = `s.id AS id, s.text AS text, s.insight_type AS insightType, s.domain AS domain, s.confidence AS confidence,
  coalesce(s.good, 0) AS good, coalesce(s.bad, 0) AS bad,
  COLLECT { MATCH (s)-[:RELATED_TO]->(e:Entity {tenant: $tenant}) RETURN {name: e.name, normal: e.normal} } AS about,
  COLLECT { MATCH (run:LearnedRun {tenant: $tenant})-[:LEARNED]->(s) RETURN run.id ORDER BY run.id } AS runs`;
const unflagged = 'coalesce(s.bad, 0) <= coalesce(s.good, 0)';

export const synthesesAbout = `MATCH (e:Entity {tenant: $tenant})<-[:RELATED_TO]-(s:Synthesis {tenant: $tenant})
WHERE e.normal IN $entities AND ${unflagged}
WITH DISTINCT s ORDER BY s.at DESC, s.id LIMIT $limit
RETURN ${synthesis} ORDER BY s.at DESC, s.id`;

/** Includes flagged ones. Only runs that contributed to a synthesis are linked to it. */
const record = `${synthesis}, COLLECT {
    MATCH (run:LearnedRun {tenant: $tenant})-[:LEARNED]->(s)
    RETURN {runId: run.id, at: run.at, answer: run.answer, sources: run.sources}
  } AS origins`;
export const synthesisById = `MATCH (s:Synthesis {tenant: $tenant, id: $key}) RETURN ${record}`;
export const synthesisOfRun = `MATCH (:LearnedRun {tenant: $tenant, id: $key})-[:LEARNED]->(s:Synthesis {tenant: $tenant}) RETURN ${record}`;

/** The newest syntheses of each entity. */
export const synthesesOfEach = `UNWIND $entities AS normal
MATCH (e:Entity {tenant: $tenant, normal: normal})
WITH e, COLLECT {
  MATCH (e)<-[:RELATED_TO]-(s:Synthesis {tenant: $tenant}) WHERE ${unflagged} RETURN s ORDER BY s.at DESC, s.id LIMIT $limit
} AS newest
UNWIND newest AS s
WITH DISTINCT s
RETURN ${synthesis}`;

const relation = `properties(r) AS relation, startNode(r).name AS subjectName, endNode(r).name AS objectName,
  coalesce(startNode(r).type, '') AS subjectType, coalesce(endNode(r).type, '') AS objectType`;

/** Relations between the entities, and functional relations of each. */
export const meeting = `MATCH (a:Entity {tenant: $tenant})-[r]->(b:Entity {tenant: $tenant})
WHERE a.normal IN $entities AND r.tenant = $tenant AND (b.normal IN $entities OR type(r) IN $functional)
RETURN ${relation} ORDER BY r.id`;

/**
 * The most trusted unflagged relations from and to each entity. Links of syntheses have no flag. The pattern names no label
 * for the other end, because Neo4j would then plan a label scan on small graphs, and no types, because each type slows down planning.
 */
export const around = `UNWIND $entities AS normal
MATCH (e:Entity {tenant: $tenant, normal: normal})
WITH e, COLLECT {
  MATCH (e)-[r]-(other) WHERE other.tenant = $tenant AND r.tenant = $tenant AND r.flagged = false
  RETURN r ORDER BY r.trust DESC, r.id LIMIT $limit
} AS best
UNWIND best AS r
WITH DISTINCT r
RETURN ${relation}`;

/** Entities by full name, by alias, and by at least half of their words. */
export const candidates = `CALL () {
  MATCH (e:Entity {tenant: $tenant}) WHERE e.normal IN $exact RETURN e, 1 AS exact, null AS word
  UNION ALL
  MATCH (t:Term {tenant: $tenant})-[:NAMES {exact: true}]->(e:Entity {tenant: $tenant}) WHERE t.text IN $exact RETURN e, 1 AS exact, null AS word
  UNION ALL
  MATCH (t:Term {tenant: $tenant}) WHERE t.text IN $words AND COUNT { (t)-[:NAMES {exact: false}]->() } <= $common
  MATCH (t)-[:NAMES {exact: false}]->(e:Entity {tenant: $tenant}) RETURN e, 0 AS exact, t.text AS word
}
WITH e, coalesce(e.words, 0) AS words, max(exact) AS exact, count(DISTINCT word) AS matched
WHERE exact = 1 OR matched * 2 >= words
RETURN e.normal AS normal, e.name AS name, coalesce(e.type, '') AS type, words, exact = 1 AS exact, matched
ORDER BY exact DESC, CASE words WHEN 0 THEN 0.0 ELSE toFloat(matched) / words END DESC, matched DESC, e.id LIMIT $limit`;

/** Entities by name; the constraint on tenant and normal form is also the index of the range. */
export const entityPage = `MATCH (e:Entity {tenant: $tenant}) WHERE e.normal > $after AND e.normal CONTAINS $search
RETURN e.normal AS normal, e.name AS name, coalesce(e.type, '') AS type ORDER BY e.normal LIMIT $limit`;

/** One statement per type of the allow-list. */
export const putRelations: Readonly<Record<RelationType, string>> = Object.fromEntries(
  relationTypes.map((type) => [
    type,
    `UNWIND $relations AS relation
MATCH (a:Entity {tenant: $tenant, normal: relation.subject}), (b:Entity {tenant: $tenant, normal: relation.object})
MERGE (a)-[r:${type} {tenant: $tenant, id: relation.id}]->(b)
SET r += relation`,
  ]),
) as Record<RelationType, string>;

export const ingested = 'MATCH (n:Ingested {tenant: $tenant, id: $id}) RETURN n.result AS result';
export const putIngested = 'CREATE (n:Ingested {tenant: $tenant, id: $id, run: $runId, result: $result})';

export const taughtBy = 'MATCH (n:Taught {tenant: $tenant, run: $runId}) RETURN n.relation AS relation';
export const putTaught = `UNWIND $runs AS run UNWIND $relations AS relation
MERGE (n:Taught {tenant: $tenant, run: run, relation: relation.id}) SET n.subject = relation.subject, n.object = relation.object`;

/** The relations that a run contributed; found by their ends. */
export const taughtRelations = `MATCH (n:Taught {tenant: $tenant, run: $runId})
MATCH (a:Entity {tenant: $tenant, normal: n.subject})-[r]->(b:Entity {tenant: $tenant, normal: n.object})
WHERE r.tenant = $tenant AND r.id = n.relation
RETURN ${relation} ORDER BY r.id`;

export const ratings = `MATCH (n:Rating {tenant: $tenant}) WHERE n.run IN $runs
RETURN count(CASE WHEN n.positive THEN 1 END) AS good, count(CASE WHEN NOT n.positive THEN 1 END) AS bad`;
export const putRating = `MERGE (n:Rating {tenant: $tenant, id: $id}) ON CREATE SET n.run = $runId, n.positive = $positive, n.write = $write
RETURN n.write = $write AS mine`;
export const rateSyntheses = `MATCH (:LearnedRun {tenant: $tenant, id: $runId})-[:LEARNED]->(s:Synthesis {tenant: $tenant})
SET s.good = coalesce(s.good, 0) + $good, s.bad = coalesce(s.bad, 0) + $bad
RETURN count(s) AS syntheses`;

export const quarantined = 'MATCH (n:Quarantined {tenant: $tenant}) WHERE n.id IN $ids RETURN n.entry AS entry';
export const putQuarantined = `UNWIND $entries AS entry
MERGE (n:Quarantined {tenant: $tenant, id: entry.id}) SET n.state = entry.state, n.at = entry.at, n.entry = entry.entry`;
export const listQuarantined = `MATCH (n:Quarantined {tenant: $tenant, state: $state})
RETURN n.entry AS entry ORDER BY n.at DESC, n.id LIMIT $limit`;

export const allQuarantined = 'MATCH (n:Quarantined {tenant: $tenant}) RETURN n.entry AS entry';
export const removeQuarantined = 'MATCH (n:Quarantined {tenant: $tenant}) WHERE n.id IN $ids DELETE n';

/** Another run that taught each of the relations, if there is one. */
export const taughtByOthers = `MATCH (n:Taught {tenant: $tenant}) WHERE n.relation IN $ids AND n.run <> $runId
RETURN n.relation AS relation, min(n.run) AS run`;
export const removeTaught = 'MATCH (n:Taught {tenant: $tenant, run: $runId}) DELETE n';
export const removeRatings = 'MATCH (n:Rating {tenant: $tenant, run: $runId}) DELETE n';
export const removeIngested = 'MATCH (n:Ingested {tenant: $tenant, run: $runId}) DELETE n';
export const removeRelations = `UNWIND $relations AS relation
MATCH (a:Entity {tenant: $tenant, normal: relation.subject})-[r]->(b:Entity {tenant: $tenant, normal: relation.object})
WHERE r.tenant = $tenant AND r.id = relation.id
DELETE r`;

/** The synthesis that a run taught, and how many runs have taught it. */
export const learnedBy = `MATCH (:LearnedRun {tenant: $tenant, id: $runId})-[:LEARNED]->(s:Synthesis {tenant: $tenant})
RETURN s.id AS id, COUNT { (:LearnedRun {tenant: $tenant})-[:LEARNED]->(s) } AS runs,
  COLLECT { MATCH (s)-[:RELATED_TO]->(e:Entity {tenant: $tenant}) RETURN e.normal } AS about`;
export const removeLearnedRun = 'MATCH (run:LearnedRun {tenant: $tenant, id: $runId}) DETACH DELETE run';
export const removeSynthesis = 'MATCH (s:Synthesis {tenant: $tenant, id: $id}) DETACH DELETE s';

/** Removes the entities that only their words still refer to, and returns these words. */
export const removeUnnamed = `UNWIND $entities AS normal
MATCH (e:Entity {tenant: $tenant, normal: normal})
WHERE NOT EXISTS { MATCH (e)-[r]-() WHERE type(r) <> 'NAMES' }
WITH e, COLLECT { MATCH (t:Term {tenant: $tenant})-[:NAMES]->(e) RETURN t.text } AS words
DETACH DELETE e
RETURN words`;
export const removeUnusedTerms = `UNWIND $words AS text
MATCH (t:Term {tenant: $tenant, text: text}) WHERE NOT EXISTS { (t)-[:NAMES]->() }
DELETE t`;

export const stats = `RETURN COUNT { (:Entity {tenant: $tenant}) } AS entities,
  COUNT { (:Entity {tenant: $tenant})-[r]->(:Entity {tenant: $tenant}) } AS relations,
  COUNT { (:Entity {tenant: $tenant})-[r]->(:Entity {tenant: $tenant}) WHERE r.flagged } AS flagged,
  COUNT { (:Synthesis {tenant: $tenant}) } AS syntheses,
  COUNT { (:Quarantined {tenant: $tenant, state: 'open'}) } AS quarantined`;
