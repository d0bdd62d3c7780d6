import { trace } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'

/** Preloaded by a process, so that it traces its requests. */
trace.setGlobalTracerProvider(new TracerProvider())
