/** How Conclave runs: one process with its own data folder, or a process for each service on Kafka and Redis. */
export type Mode = 'embedded' | 'distributed';
