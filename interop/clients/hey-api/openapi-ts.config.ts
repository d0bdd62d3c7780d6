import { defineConfig } from '@hey-api/openapi-ts'

export default defineConfig({
  input: 'http://127.0.0.1:3000/openapi.json',
  output: 'petstore',
  // The transformers make int64 a `bigint`.
  plugins: [
    '@hey-api/client-fetch',
    '@hey-api/typescript',
    '@hey-api/transformers',
    { name: '@hey-api/sdk', transformer: true },
  ],
})
