import type { RunView } from '@conclave/contracts';
import { ChatStream, CommitteeScript, price, type Engine, readRun, type Role, runEvents, user } from '@conclave/test-support/system';
