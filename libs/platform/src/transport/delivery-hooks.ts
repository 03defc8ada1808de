import type { DeliveryHooks } from '@conclave/ports';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Probe } from '../process/probe.js';
import { serviceOfGroup } from './groups.js';

/** Characters of the id of a run in a log line; what is no record of ours may name anything. */
const mostId = 100;

/** Turns the hooks of every delivery pool into metrics, log lines and input of the probe. */
export function deliveryHooks(to: { readonly metrics: Metrics; readonly logger: Logger; readonly probe: Probe }): DeliveryHooks {
  const { metrics, logger, probe } = to;
  return {
    point: (point, { group, event }) => {
      const service = serviceOfGroup(group);
      const id = event?.id ?? 'undecodable';
      if (probe.records) probe.note({ actor: service, op: event?.type ?? 'record', phase: point, id });
      probe.reached(service, point, id);
    },
    handled: ({ group, topic, type, outcome, queueMs, handleMs, error, dead }) => {
      const service = serviceOfGroup(group);
      const label = type ?? 'undecodable';
      metrics.observe('event_handle_seconds', { type: label, service, outcome }, handleMs / 1000);
      metrics.observe('event_queue_wait_seconds', { type: label, service }, Math.max(0, queueMs) / 1000);
      if (outcome === 'dead') {
        metrics.count('dead_letters_total', { topic, service });
        const { reason, attempts, runId } = dead ?? {};
        logger.error('A record became a dead letter.', {
          service,
          run: runId?.slice(0, mostId),
          topic,
          type: label,
          reason,
          attempts,
          error,
        });
      } else if (outcome === 'retry') {
        logger.warn('Handling a record failed; it is retried.', { service, topic, type: label, error });
      } else {
        logger.debug('Handled.', { service, topic, type: label, outcome, queueMs, handleMs });
      }
    },
    outage: (group, paused, error) => {
      metrics.set('outage', { group }, paused ? 1 : 0);
      if (paused) logger.warn('Consumption pauses until the log and the stores answer again.', { group, error });
      else logger.info('Consumption continues.', { group });
    },
    ...(probe.records
      ? {
          committed: (group, positions) => {
            for (const position of positions)
              probe.note({ actor: serviceOfGroup(group), op: 'offset-commit', phase: 'ok', id: group, data: position });
          },
        }
      : {}),
  };
}
