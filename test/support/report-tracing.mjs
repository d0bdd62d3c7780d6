import { registerHooks } from 'node:module'

/** Reports on standard error that the process loads OpenTelemetry's SDK for traces. */
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@opentelemetry/sdk-trace') process.stderr.write(`loads ${specifier}\n`)
    return next(specifier, context)
  },
})
