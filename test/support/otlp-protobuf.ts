/** Decodes what an OTLP exporter sends as protobuf into the shape of OTLP's JSON (opentelemetry-proto, trace/v1/trace.proto). */

/** A number for a varint, a bigint for eight bytes, or the bytes of a string or message. */
type Value = number | bigint | Buffer
type Message = Map<number, Value[]>

export function decodeTraces(bytes: Buffer) {
  return {
    resourceSpans: messages(read(bytes), 1).map((each) => ({
      resource: { attributes: messages(each, 1).flatMap((resource) => attributesOf(resource, 1)) },
      scopeSpans: messages(each, 2).map((scope) => ({ spans: messages(scope, 2).map(spanOf) })),
    })),
  }
}

function spanOf(span: Message) {
  return {
    traceId: bytesOf(span, 1).toString('hex'),
    spanId: bytesOf(span, 2).toString('hex'),
    parentSpanId: bytesOf(span, 4).toString('hex'),
    name: bytesOf(span, 5).toString(),
    kind: Number(span.get(6)?.[0]),
    startTimeUnixNano: String(span.get(7)?.[0]),
    endTimeUnixNano: String(span.get(8)?.[0]),
    attributes: attributesOf(span, 9),
    events: messages(span, 11).map((event) => ({
      name: bytesOf(event, 2).toString(),
      attributes: attributesOf(event, 3),
    })),
    status: { code: Number(messages(span, 15)[0]?.get(3)?.[0] ?? 0) },
  }
}

function attributesOf(message: Message, field: number) {
  return messages(message, field).map((attribute) => {
    const value = messages(attribute, 2)[0] ?? new Map()
    return { key: bytesOf(attribute, 1).toString(), value: attributeValue(value) }
  })
}

function attributeValue(value: Message): { stringValue: string } | { intValue: number } {
  return value.has(1) ? { stringValue: bytesOf(value, 1).toString() } : { intValue: Number(value.get(3)?.[0]) }
}

function bytesOf(message: Message, field: number): Buffer {
  const value = message.get(field)?.[0]
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}

function messages(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((value) => read(Buffer.isBuffer(value) ? value : Buffer.alloc(0)))
}

/** The fields of a message by number (https://protobuf.dev/programming-guides/encoding/). */
function read(bytes: Buffer): Message {
  const message: Message = new Map()
  let position = 0
  function varint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes.readUInt8(position++)
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
  function fieldOf(wireType: number): Value {
    if (wireType === 0) return varint()
    const length = wireType === 1 ? 8 : wireType === 5 ? 4 : varint()
    const value = bytes.subarray(position, position + length)
    position += length
    return wireType === 1 ? value.readBigUInt64LE() : value
  }
  while (position < bytes.length) {
    const tag = varint()
    const field = Math.floor(tag / 8)
    message.set(field, [...(message.get(field) ?? []), fieldOf(tag % 8)])
  }
  return message
}
