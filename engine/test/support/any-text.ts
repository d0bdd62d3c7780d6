import fc from 'fast-check'

/**
 * Texts of any code points, also of lone surrogates. `fc.string({ unit: 'binary' })` takes seconds, because it indexes
 * all code points first.
 */
export function anyText(constraints?: fc.ArrayConstraints): fc.Arbitrary<string> {
  return fc.array(fc.nat(0x10ffff), constraints).map((points) => String.fromCodePoint(...points))
}
