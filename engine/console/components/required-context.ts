import { type Context, createContext, type Provider, useContext } from 'react'

/** A context without a default value: its provider, and the hook that reads it. */
export function createRequiredContext<Value>(): [Provider<Value>, () => Value] {
  const context: Context<Value | undefined> = createContext<Value | undefined>(undefined)
  function useValue(): Value {
    const value = useContext(context)
    if (value === undefined) throw new Error('The component has no provider of its context above it.')
    return value
  }
  return [context.Provider, useValue]
}
