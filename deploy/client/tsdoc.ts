import type { AnyRouter } from '@trpc/server'
import { type ESTree, parseSync } from 'vite'
import { z } from 'zod'
import { createSchema, type oas31 } from 'zod-openapi'
import { type Procedure, proceduresOf } from '../../engine/service/procedures/procedures.ts'

/** The declarations of the client, and what was found in them. */
interface Declarations {
  code: string
  comments: ReturnType<typeof parseSync>['comments']
  /** The types and constants at the top level. */
  types: Map<string, { statement: ESTree.Span; type: ESTree.TSType }>
  /** The text and the description of each type that has the name of a schema. */
  named: Map<string, { text: string; description: string }>
}

/** Where a schema is used. */
interface Place {
  /** The procedure and the fields, for errors. */
  path: string
  io: 'input' | 'output'
  declarations: Declarations
}

/** A part of the code, and the text that replaces it. */
interface Edit {
  at: ESTree.Span
  text: string
}

/**
 * Adds TSDoc to the declarations of the client: the description of each procedure, and the description, the bounds and the
 * default of each field. They come from the metadata and the schemas of the procedures. A type of the client that has the
 * name of a schema is declared with its fields, because an editor cannot show the fields of an inferred type.
 *
 * @throws {Error} if a procedure or a field has no description, or is not in the declarations.
 */
export function addTsdoc(code: string, router: AnyRouter): string {
  const declarations = parseDeclarations(code)
  const edits = proceduresOf(router).flatMap((procedure) => documentProcedure(procedure, declarations))
  for (const [name, { text, description }] of declarations.named) {
    const { statement, type } = topLevel(name, declarations)
    edits.push(comment(statement, [description], name, declarations), { at: type, text })
  }
  return edited({ start: 0, end: code.length }, edits, code)
}

function parseDeclarations(code: string): Declarations {
  const { program, comments } = parseSync('index.d.ts', code)
  const types: Declarations['types'] = new Map()
  for (const statement of program.body) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declared?.type === 'TSTypeAliasDeclaration')
      types.set(declared.id.name, { statement, type: declared.typeAnnotation })
    if (declared?.type !== 'VariableDeclaration') continue
    for (const { id } of declared.declarations)
      if (id.type === 'Identifier' && id.typeAnnotation)
        types.set(id.name, { statement, type: id.typeAnnotation.typeAnnotation })
  }
  return { code, comments, types, named: new Map() }
}

function topLevel(name: string, { types }: Declarations) {
  const found = types.get(name)
  if (!found) throw new Error(`The declarations of the client contain no type ${name}.`)
  return found
}

function documentProcedure({ name, meta, inputs, output }: Procedure, declarations: Declarations): Edit[] {
  let { type, statement: member } = topLevel('AppRouter', declarations)
  for (const part of name.split('.')) ({ type, member } = fieldOf(membersOf(type, declarations), part, name))
  const { openapi } = meta
  const schemas = { input: inputs[0], output }
  return [
    comment(member, [openapi?.description ?? openapi?.summary], name, declarations),
    ...(['input', 'output'] as const).flatMap((io) => {
      const schema = schemas[io]
      if (!(schema instanceof z.ZodType)) return []
      const declared = fieldOf(membersOf(type, declarations), io, name).type
      return { at: declared, text: documented(declared, schema, { path: name, io, declarations }) }
    }),
  ]
}

/** The members of an object type, which is the last type argument of tRPC's types of routers and procedures. */
function membersOf(type: ESTree.TSType, declarations: Declarations): ESTree.TSSignature[] {
  if (type.type === 'TSTypeLiteral') return type.members
  if (type.type === 'TSTypeQuery' && type.exprName.type === 'Identifier')
    return membersOf(topLevel(type.exprName.name, declarations).type, declarations)
  const argument = type.type === 'TSTypeReference' ? type.typeArguments?.params.at(-1) : undefined
  if (!argument) throw new Error(`The declarations of the client contain a ${type.type} in place of an object.`)
  return membersOf(argument, declarations)
}

function fieldOf(members: ESTree.TSSignature[], name: string, path: string) {
  for (const member of members) {
    if (member.type !== 'TSPropertySignature' || member.key.type !== 'Identifier' || member.key.name !== name) continue
    if (member.typeAnnotation) return { member, type: member.typeAnnotation.typeAnnotation }
  }
  throw new Error(`${path}: the declarations of the client do not contain ${name}.`)
}

/** The text of a type with TSDoc at its fields, or the name of its schema. */
function documented(type: ESTree.TSType, schema: z.core.$ZodType, place: Place): string {
  const { path, declarations } = place
  const { code, types, named } = declarations
  if (type.type === 'TSParenthesizedType') {
    const { typeAnnotation } = type
    return edited(type, [{ at: typeAnnotation, text: documented(typeAnnotation, schema, place) }], code)
  }
  const members = type.type === 'TSUnionType' ? type.types : [type]
  const isAbsent = ({ type }: ESTree.TSType) => type === 'TSUndefinedKeyword' || type === 'TSNullKeyword'
  const value = layersOf(schema).at(-1) ?? schema
  const text = members
    .filter((member) => !isAbsent(member))
    .map((member) => documentedValue(member, value, place))
    .join(' | ')
  const absent = members.filter(isAbsent).map(({ start, end }) => code.slice(start, end))
  const id = z.globalRegistry.get(value)?.id
  if (!id || !types.has(id)) return [text, ...absent].join(' | ')
  const declared = { text: outdent(text), description: descriptionOf(value, path) }
  if (named.has(id) && named.get(id)?.text !== declared.text)
    throw new Error(`${path}: the type ${id} differs from that of another schema with this name.`)
  named.set(id, declared)
  return [id, ...absent].join(' | ')
}

function documentedValue(type: ESTree.TSType, schema: z.core.$ZodType, place: Place): string {
  const { path, declarations } = place
  const { code } = declarations
  if (schema instanceof z.ZodArray && type.type === 'TSArrayType') {
    const { elementType } = type
    return edited(type, [{ at: elementType, text: documented(elementType, schema.element, place) }], code)
  }
  if (schema instanceof z.ZodObject && type.type === 'TSTypeLiteral') {
    const edits = Object.entries(schema.shape).flatMap(([name, inner]) => {
      const field = fieldOf(type.members, name, path)
      const inside = { ...place, path: `${path}: ${name}` }
      return [
        comment(field.member, textOf(inner, inside), inside.path, declarations),
        { at: field.type, text: documented(field.type, inner, inside) },
      ]
    })
    return edited(type, edits, code)
  }
  const text = code.slice(type.start, type.end)
  if (text.includes('{'))
    throw new Error(`${path}: deploy/client/tsdoc.ts does not know the fields of this kind of schema.`)
  return text
}

function textOf(schema: z.core.$ZodType, { path, io }: Place): string[] {
  const layers = layersOf(schema)
  const value = layers.at(-1) ?? schema
  const { schema: reference, components } = createSchema(value, { io })
  const bounds = boundsOf(components[z.globalRegistry.get(value)?.id ?? ''] ?? reference)
  const fallback = layers.find((layer) => layer instanceof z.ZodDefault)?.def.defaultValue
  return [
    [descriptionOf(schema, path), ...bounds].join(' '),
    ...(fallback === undefined
      ? []
      : [`@defaultValue ${typeof fallback === 'bigint' ? `${fallback}n` : JSON.stringify(fallback)}`]),
  ]
}

function boundsOf(schema: oas31.SchemaObject | oas31.ReferenceObject): string[] {
  if (!('type' in schema)) return []
  const { type, format, minimum, maximum, minLength, maxLength } = schema
  if (type === 'string') return range('Characters', minLength, maxLength)
  if (format === 'int64' && minimum === undefined && maximum === undefined) return ['64-bit integer.']
  return range(format === 'int64' ? '64-bit integer' : type === 'integer' ? 'Integer' : 'Number', minimum, maximum)
}

function range(what: string, min: number | undefined, max: number | undefined): string[] {
  if (min !== undefined && max !== undefined) return [`${what}: ${min} to ${max}.`]
  if (min !== undefined) return [`${what}: at least ${min}.`]
  return max === undefined ? [] : [`${what}: at most ${max}.`]
}

/** The schema, and those inside of optional ones, nullable ones and ones with a default, from the outside in. */
function layersOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  const isOptional = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
  const isWrapper = isOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
  return isWrapper ? [schema, ...layersOf(schema.unwrap())] : [schema]
}

function descriptionOf(schema: z.core.$ZodType, path: string): string {
  const [description] = layersOf(schema).flatMap((layer) => z.globalRegistry.get(layer)?.description || [])
  if (!description) throw new Error(`${path} has no description. Add one with meta().`)
  return description
}

/** Writes TSDoc before a declaration, in front of the text of a comment that it already has. */
function comment(
  declared: ESTree.Span,
  paragraphs: (string | undefined)[],
  path: string,
  declarations: Declarations,
): Edit {
  const { code, comments } = declarations
  const own = comments.find(({ end }) => end <= declared.start && code.slice(end, declared.start).trim() === '')
  const text = [...paragraphs, own?.value.replaceAll(/^[^\S\n]*\*+ ?/gm, '').trim()].filter(Boolean).join('\n\n')
  if (text === '') throw new Error(`${path} has no description. Add one to its metadata, or TSDoc.`)
  const indent = code.slice(code.lastIndexOf('\n', declared.start - 1) + 1, declared.start)
  const lines = text.replaceAll('*/', '*\\/').split('\n')
  const block =
    lines.length === 1 ? [`/** ${lines[0]} */`] : ['/**', ...lines.map((line) => ` * ${line}`.trimEnd()), ' */']
  const at = { start: own?.start ?? declared.start, end: declared.start }
  return { at, text: [...block, ''].join(`\n${indent}`) }
}

/** The text of a part of the code after edits inside it, which do not overlap. */
function edited({ start, end }: ESTree.Span, edits: Edit[], code: string): string {
  let text = ''
  let written = start
  for (const { at, text: edit } of edits.toSorted((one, other) => one.at.start - other.at.start)) {
    text += code.slice(written, at.start) + edit
    written = at.end
  }
  return text + code.slice(written, end)
}

/** Removes the indentation of the last line from every line. */
function outdent(text: string): string {
  const last = text.slice(text.lastIndexOf('\n') + 1)
  const indent = last.slice(0, last.length - last.trimStart().length)
  return text.replaceAll(`\n${indent}`, '\n')
}
