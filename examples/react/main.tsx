import { QueryClientProvider } from '@tanstack/react-query'
import { createPetstoreClient } from 'petstore-client'
import { createRoot } from 'react-dom/client'
import { PetList } from './pet-list.tsx'
import { queryClient } from './query-client.ts'

const petstore = createPetstoreClient({
  url: import.meta.env.VITE_PETSTORE_URL ?? 'http://127.0.0.1:3000',
  // The page asks for the key, because everyone who loads the page can read its code.
  apiKey: prompt('API key') ?? '',
})

createRoot(document.body).render(
  <QueryClientProvider client={queryClient}>
    <PetList petstore={petstore} />
  </QueryClientProvider>,
)
