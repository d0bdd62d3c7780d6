import { createTRPCClient, httpBatchLink } from '@trpc/client'
import type { AppRouter } from 'petstore-client'
import superjson from 'superjson'

// tRPC's own client and links, for example for @trpc/tanstack-react-query. Unlike createPetstoreClient, they do not retry.
const { PETSTORE_URL = 'http://127.0.0.1:3000', KEY = '' } = process.env
const trpc = createTRPCClient<AppRouter>({
  links: [
    httpBatchLink({
      url: `${PETSTORE_URL}/trpc`,
      headers: { authorization: `Bearer ${KEY}` },
      transformer: superjson,
      // The service rejects larger batches, and URLs of more than 8 KiB.
      maxItems: 20,
      maxURLLength: 4_000,
    }),
  ],
})

const ids = Array.from({ length: 50 }, (_, index) => BigInt(index + 1))
const pets = await Promise.all(ids.map((petId) => trpc.pets.get.query({ petId })))
console.log(pets.map(({ name }) => name).join('\n'))
