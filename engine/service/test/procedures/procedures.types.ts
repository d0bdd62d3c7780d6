import { z } from 'zod'
import { defineStore } from '#store'
import { appRouter } from '../../../test/notes/router.ts'
import type { service } from '../../../test/notes/service.ts'
import { definition } from '../../../test/notes/store.ts'
import { mutation, query, router } from '../../../test/notes/trpc.ts'
import { run } from '../../commands/program.ts'

/** Checked by the compiler alone: each line below an expectation must be an error, and each other line must not. */

const book = { title: 'Faust', shelf: 'North', isLent: false, notes: [{ body: 'Call Ann', priority: 1n }] }

export function aMutationPassesItsCallerOn(): void {
  const mutating = mutation({ idempotencyKey: 'replays' }).input(z.object({ id: z.bigint(), amount: z.bigint() }))
  mutating.mutation(({ ctx, input }) => ctx.store.notes.raise(input, ctx.caller))
  mutating.mutation(({ ctx }) => ctx.store.notes.list({ limit: 1, cursor: 0n }))
  // @ts-expect-error the history would not name the key, and a retry would raise again
  mutating.mutation(({ ctx, input }) => ctx.store.notes.raise(input))
  // @ts-expect-error the same with statements of its own
  mutating.mutation(({ ctx }) => ctx.store.books.createWithNotes(book))
  // @ts-expect-error a query changes nothing
  query().query(({ ctx }) => ctx.caller)
}

export function aQueryOnlyReads(): void {
  query().query(({ ctx }) => [ctx.store.notes.counts(), ctx.store.books.get(1n), ctx.store.revision()])
  query().query(({ ctx }) => ctx.store.notes.search({ limit: 1, order: 'newest' }, ctx.searcher()))
  // @ts-expect-error a key that may only read would add a row
  query().query(({ ctx }) => ctx.store.books.create({ title: 'Faust', isLent: false }))
  // @ts-expect-error the same with a change of its own
  query().query(({ ctx }) => ctx.store.notes.raise({ id: 1n, amount: 1n }))
  // @ts-expect-error the same with statements of its own
  query().query(({ ctx }) => ctx.store.books.createWithNotes(book))
  // @ts-expect-error the same with a key
  query().query(({ ctx }) => ctx.store.apiKeys)
}

export function aServiceHasTheStoreOfItsRouter({ router: _, ...others }: typeof service): void {
  const { apiKeys, books } = definition.collections
  const { program, applicationId, migrations } = definition
  void run({ ...others, router: appRouter })
  void run({ ...others, router: router({}) })
  const smaller = defineStore({ url: '', program, applicationId, migrations, collections: { apiKeys, books } })
  // @ts-expect-error the procedures would find no notes
  void run({ ...others, transfer: [], store: smaller, router: appRouter })
}

export function everyMutationDeclaresItsIdempotency(): void {
  const input = z.object({ name: z.string() })
  router({
    add: mutation({ idempotencyKey: 'replays' })
      .input(input)
      .mutation(() => 1),
  })
  router({
    add: mutation({ idempotencyKey: 'ignored' })
      .input(input)
      .mutation(() => 1),
  })
  // @ts-expect-error the mutation does not declare how it treats a key
  mutation({})
  // @ts-expect-error the mutation does not declare how it treats a key
  router({ add: query().mutation(() => 1) })
}
