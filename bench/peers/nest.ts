import 'reflect-metadata'
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Module,
  NotFoundException,
  Param,
  Post,
  Query,
  Res,
  StandardSchemaValidationPipe,
  UnauthorizedException,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  createPet,
  getPet,
  isAuthorized,
  listPets,
  type NewPet,
  notFound,
  type Pet,
  type PetQuery,
  port,
  unauthorized,
} from './database.ts'
import * as schemas from './schemas.ts'

/** NestJS 12 on its Fastify adapter: its standard schema pipe validates with zod. */

class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>()
    if (!isAuthorized(request.headers.authorization)) throw new UnauthorizedException(unauthorized)
    return true
  }
}

class PetsController {
  list(query: PetQuery): Pet[] {
    return listPets(query)
  }

  create(pet: NewPet, reply: FastifyReply): Pet {
    const created = createPet(pet)
    reply.header('location', `/v1/pets/${created.id}`)
    return created
  }

  get({ petId }: { petId: number }): Pet {
    const found = getPet(petId)
    if (!found) throw new NotFoundException(notFound)
    return found
  }
}

class AppModule {}

// The decorators, called as functions: Node strips types, but does not transpile decorators.
decorateMethod('list', Get(), Query({ schema: schemas.PetQuery }))
decorateMethod('create', Post(), Body({ schema: schemas.NewPet }), Res({ passthrough: true }))
decorateMethod('get', Get(':petId'), Param({ schema: schemas.PetId }))
Controller('v1/pets')(PetsController)
Module({ controllers: [PetsController] })(AppModule)

function decorateMethod(
  name: keyof PetsController,
  method: MethodDecorator,
  ...parameters: ParameterDecorator[]
): void {
  const { prototype } = PetsController
  for (const [index, parameter] of parameters.entries()) parameter(prototype, name, index)
  method(prototype, name, { value: prototype[name] })
}

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: false })
app.useGlobalGuards(new ApiKeyGuard())
app.useGlobalPipes(new StandardSchemaValidationPipe())

await app.listen(port, '127.0.0.1')
