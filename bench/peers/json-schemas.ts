/** The JSON Schemas of the hand-written Fastify peers. */

const status = { type: 'string', enum: ['available', 'pending', 'sold'] }
const fields = {
  name: { type: 'string', minLength: 1, maxLength: 255 },
  categoryId: { type: 'integer' },
}

export const petQuery = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    cursor: { type: 'integer', minimum: 0, default: 0 },
    status,
  },
}

export const petId = { type: 'object', properties: { petId: { type: 'integer' } } }

export const newPet = {
  type: 'object',
  properties: { ...fields, status: { ...status, default: 'available' } },
  required: ['name', 'categoryId'],
}

export const pet = {
  type: 'object',
  properties: { id: { type: 'integer' }, ...fields, status },
  required: ['id', 'name', 'categoryId', 'status'],
}
