import { serveJobs } from '../running/worker.js';

serveJobs();
