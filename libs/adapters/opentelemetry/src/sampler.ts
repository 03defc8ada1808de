import { ROOT_CONTEXT, SpanKind, trace, TraceFlags } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Environment } from '@conclave/contracts';
import type { Tracer } from '@conclave/ports';

/** The sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name, as OpenTelemetry defines it. */
export function samplerOf(environment: Environment): Tracer['samples'] {
  const sampler = named(environment);
  return (traceId, parent) => {
    const spanContext = parent && {
      traceId,
      spanId: parent.spanId,
      traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      isRemote: true,
    };
    const context = spanContext ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT;
    return sampler.shouldSample(context, traceId, '', SpanKind.INTERNAL, {}, []).decision === SamplingDecision.RECORD_AND_SAMPLED;
  };
}

function named({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share = 1 }: Environment): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(share);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) });
  }
}
