import { beforeEach } from 'vitest'
import { prepareDatabases } from '../database.ts'

beforeEach(prepareDatabases)
