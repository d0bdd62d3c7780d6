import { expect, test } from 'vitest'
import { z } from 'zod'
import { addTsdoc } from '../../deploy/client/tsdoc.ts'
import { createTrpc, type MutationMeta } from '../../engine/service/procedures/trpc.ts'

const { mutation, router } = createTrpc()

const Size = z.enum(['small', 'large']).meta({ id: 'Size', description: 'How large a kennel is.' })
const NewKennel = z
  .object({
    name: z.string().min(1).max(20).meta({ description: 'The name.' }),
    beds: z.int().min(1).max(9).default(2).meta({ description: 'The number of beds.' }),
    size: Size.nullable().optional(),
    owner: z
      .object({
        phones: z
          .array(z.object({ text: z.string().meta({ description: 'Digits.' }) }))
          .meta({ description: 'The phones.' }),
      })
      .meta({ description: 'Who owns it.' }),
  })
  .meta({ id: 'NewKennel', description: 'A kennel to be added.' })

/** The declarations of a router with one procedure, as the compiler and the bundler write them. */
const declarations = `declare const kennelsRouter: TRPCBuiltRouter<object, TRPCDecorateCreateRouterOptions<{
    /** Keeps this text. */
    add: TRPCMutationProcedure<{
        input: {
            name: string;
            beds?: number | undefined;
            size?: "small" | "large" | null | undefined;
            owner: {
                phones: {
                    text: string;
                }[];
            };
        };
        output: ("small" | "large")[];
    }>;
}>>;
type AppRouter = TRPCBuiltRouter<object, TRPCDecorateCreateRouterOptions<{
    kennels: typeof kennelsRouter;
}>>;
type NewKennel = inferRouterInputs<AppRouter>['kennels']['add'];
type Size = NonNullable<NewKennel['size']>;
`

function routerWith(input: z.ZodType, meta: Partial<MutationMeta> = {}) {
  const add = mutation({ ...meta, idempotencyKey: 'ignored' })
    .input(input)
    .output(z.array(Size))
    .mutation(() => [])
  return router({ kennels: router({ add }) })
}

test('procedures, fields and named types get their descriptions, bounds and defaults', () => {
  const openapi = { method: 'POST', path: '/kennels', description: 'Adds a kennel.' } as const
  expect(addTsdoc(declarations, routerWith(NewKennel, { openapi }))).toBe(
    `declare const kennelsRouter: TRPCBuiltRouter<object, TRPCDecorateCreateRouterOptions<{
    /**
     * Adds a kennel.
     *
     * Keeps this text.
     */
    add: TRPCMutationProcedure<{
        input: NewKennel;
        output: (Size)[];
    }>;
}>>;
type AppRouter = TRPCBuiltRouter<object, TRPCDecorateCreateRouterOptions<{
    kennels: typeof kennelsRouter;
}>>;
/** A kennel to be added. */
type NewKennel = {
    /** The name. Characters: 1 to 20. */
    name: string;
    /**
     * The number of beds. Integer: 1 to 9.
     *
     * @defaultValue 2
     */
    beds?: number | undefined;
    /** How large a kennel is. */
    size?: Size | null | undefined;
    /** Who owns it. */
    owner: {
        /** The phones. */
        phones: {
            /** Digits. */
            text: string;
        }[];
    };
};
/** How large a kennel is. */
type Size = "small" | "large";
`,
  )
})

test('the build of the client stops if a field or a procedure has no description', () => {
  const { beds, size, owner } = NewKennel.shape
  const router = routerWith(z.object({ name: z.string(), beds, size, owner }))
  const ofField = new Error('kennels.add: name has no description. Add one with meta().')
  expect(() => addTsdoc(declarations, router)).toThrow(ofField)
  const without = declarations.replace('/** Keeps this text. */', '')
  const ofProcedure = new Error('kennels.add has no description. Add one to its metadata, or TSDoc.')
  expect(() => addTsdoc(without, routerWith(z.object({})))).toThrow(ofProcedure)
})
