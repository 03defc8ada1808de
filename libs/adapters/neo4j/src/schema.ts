/** Unique keys begin with the tenant. They serialize concurrent writers of one node and index the nodes. */
export const schema = [
  'CREATE CONSTRAINT conclave_synthesis IF NOT EXISTS FOR (n:Synthesis) REQUIRE (n.tenant, n.id) IS UNIQUE',
  'CREATE CONSTRAINT conclave_entity IF NOT EXISTS FOR (n:Entity) REQUIRE (n.tenant, n.normal) IS UNIQUE',
  'CREATE CONSTRAINT conclave_learned_run IF NOT EXISTS FOR (n:LearnedRun) REQUIRE (n.tenant, n.id) IS UNIQUE',
  'CREATE CONSTRAINT conclave_term IF NOT EXISTS FOR (n:Term) REQUIRE (n.tenant, n.text) IS UNIQUE',
  'CREATE CONSTRAINT conclave_ingested IF NOT EXISTS FOR (n:Ingested) REQUIRE (n.tenant, n.id) IS UNIQUE',
  'CREATE CONSTRAINT conclave_taught IF NOT EXISTS FOR (n:Taught) REQUIRE (n.tenant, n.run, n.relation) IS UNIQUE',
  'CREATE CONSTRAINT conclave_rating IF NOT EXISTS FOR (n:Rating) REQUIRE (n.tenant, n.id) IS UNIQUE',
  'CREATE CONSTRAINT conclave_quarantined IF NOT EXISTS FOR (n:Quarantined) REQUIRE (n.tenant, n.id) IS UNIQUE',
  'CREATE CONSTRAINT conclave_tenant IF NOT EXISTS FOR (n:GraphTenant) REQUIRE n.tenant IS UNIQUE',
  'CREATE INDEX conclave_taught_run IF NOT EXISTS FOR (n:Taught) ON (n.tenant, n.run)',
  'CREATE INDEX conclave_taught_relation IF NOT EXISTS FOR (n:Taught) ON (n.tenant, n.relation)',
  'CREATE INDEX conclave_ingested_run IF NOT EXISTS FOR (n:Ingested) ON (n.tenant, n.run)',
  'CREATE INDEX conclave_rating_run IF NOT EXISTS FOR (n:Rating) ON (n.tenant, n.run)',
  'CREATE INDEX conclave_quarantined_state IF NOT EXISTS FOR (n:Quarantined) ON (n.tenant, n.state)',
];

export const labels = 'Synthesis|Entity|LearnedRun|Term|Ingested|Taught|Rating|Quarantined|GraphTenant';
