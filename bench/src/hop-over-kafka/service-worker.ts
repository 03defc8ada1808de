import { startServices, type CommitteeService } from '../committee/services.js';
import { hostMethods } from '../processes/worker-host.js';

/** Runs one service of the committee as a process: `service-worker.js <data folder> <service>`. */
const [home = '', service = ''] = process.argv.slice(2);
const running = await startServices({ CONCLAVE_HOME: home }, home, service as CommitteeService, [service as CommitteeService]);

hostMethods({ calls: () => running.models.calls() }, () => running.close());
