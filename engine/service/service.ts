import type { AnyRouter } from '@trpc/server'
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import type { BaseStore, StoreDefinition, WithApiKeys } from '#store'
import type { Transfer } from './api/transfer.ts'
import { collectClosers } from './closing.ts'
import { OperatorError, systemMessage } from './operator/operator-error.ts'
import type { MutatingStore, QueryContext } from './procedures/trpc.ts'
import type { Product } from './product.ts'

export interface Service<
  Stores extends WithApiKeys,
  Settings extends z.ZodObject = z.ZodObject,
  Dependencies = unknown,
> {
  product: Product
  /** Reads further variables, for `ctx.settings` and `routes`: `mailServer` is `MAIL_SERVER`. The help shows descriptions. */
  settings?: Settings
  /**
   * Makes once, at the start, what procedures and `routes` need beside the store, such as the client of another service:
   * `ctx.dependencies`. What it gives to `onClose` is called when the service has stopped. If it throws, the start fails, and
   * leaves no database: the message of an `OperatorError` is for the operator as it is.
   */
  dependencies?(
    settings: z.infer<Settings>,
    onClose: (close: () => unknown) => void,
  ): Dependencies | Promise<Dependencies>
  store: StoreDefinition<Stores>
  router: AnyRouter
  /** The resources that can be exported and imported. */
  transfer: Transfer<BaseStore & Stores, unknown>[]
  /** Folder of the built web console. Without it there is no console. */
  console?: string | undefined
  /**
   * Adds routes of the product's own, such as a download, below the check of the API key. Bodies are JSON as in REST, and a
   * request that is not GET, HEAD or OPTIONS needs a key that may write. `callerOf` makes the caller that a mutation of the
   * store needs. The OpenAPI document does not have them.
   */
  routes?(
    app: FastifyInstance,
    store: MutatingStore<BaseStore & Stores>,
    settings: z.infer<Settings>,
    dependencies: Dependencies,
  ): void | Promise<void>
}

/**
 * Calls `dependencies` of a service. `close` calls what it gave to `onClose`, and what is given to the returned one.
 *
 * @throws {OperatorError} if the system has refused something, such as a file or a connection; any other error as it is
 */
export async function makeDependencies(
  { dependencies }: Pick<Service<WithApiKeys>, 'dependencies'>,
  settings: Record<string, unknown>,
) {
  const { onClose, close } = collectClosers()
  try {
    return { made: await dependencies?.(settings, onClose), onClose, close }
  } catch (cause) {
    // The cause is what the operator can correct.
    await close().catch(() => {})
    const refusal = refusalIn(cause)
    // A defect of the product keeps its stack.
    if (!refusal) throw cause
    throw new OperatorError(`The dependencies could not be made: ${refusal.message}`, { cause })
  }
}

/** The error of the system that is the reason. `fetch` has it as the cause, and a connection with several addresses in a list. */
function refusalIn(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined
  if (systemMessage(error) !== undefined) return error
  const reasons: unknown[] = error instanceof AggregateError ? error.errors : [error.cause]
  return reasons.map(refusalIn).find(Boolean)
}

type Routed<Any, Router> = Omit<Any, 'router'> & { router: Router }

/** Returns the service, with the types of its store, its settings and its dependencies for `routes`. */
export function defineService<
  Stores extends WithApiKeys,
  Router extends AnyRouter,
  Settings extends z.ZodObject = z.ZodObject,
  Dependencies = unknown,
>(
  service: Routed<Service<Stores, Settings, Dependencies>, Router>,
): Routed<Service<Stores, Settings, Dependencies>, Router> {
  return service
}

/** A service whose procedures use no more than its store has. */
export type Matching<Stores extends WithApiKeys, Settings extends z.ZodObject, Dependencies> = Service<
  Stores,
  Settings,
  Dependencies
> & {
  router: {
    createCaller: (
      ctx: QueryContext<BaseStore & NoInfer<Stores>, z.infer<NoInfer<Settings>>, NoInfer<Dependencies>>,
    ) => unknown
  }
}
