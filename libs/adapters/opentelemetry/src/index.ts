export { openTracer, type TracerOptions } from './otlp-tracer.js';
