// Keys of the whole page. A screen says which it answers to and how they are
// described; "?" shows all of them that hold at the moment. What was registered
// last is asked first, so that a menu over a screen takes its keys.
import { useEffect, useRef } from 'preact/hooks'

/** What a key does; false leaves it to what is behind. */
type Handlers = Record<string, (e: KeyboardEvent) => unknown>

interface Layer {
  keys: () => Handlers
  help: () => [key: string, what: string][]
}

const layers: Layer[] = []

/**
 * Answers to keys while the component is there. Names are those of
 * KeyboardEvent.key, letters in lower case; "Shift+", "Ctrl+" and "Alt+" before
 * them (Ctrl is also the Mac's command key). Keys typed into a field are the
 * field's own, but for Escape and Ctrl+k, which opens the palette from everywhere.
 */
export function useKeys(keys: Handlers, help: [key: string, what: string][]): void {
  const now = useRef({ keys, help })
  now.current = { keys, help }
  useEffect(() => {
    const layer: Layer = { keys: () => now.current.keys, help: () => now.current.help }
    layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [])
}

/** What holds at the moment, for the help: the page's own keys first. */
export function allHelp(): [key: string, what: string][] {
  return layers.flatMap((l) => l.help())
}

/** The name of what was pressed, as useKeys wants it. */
export function keyName(e: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): string {
  const printed = e.key.length === 1
  const key = printed ? e.key.toLowerCase() : e.key
  // Shift is part of what a sign like "?" is; of letters and named keys it is not.
  const shift = e.shiftKey && (!printed || /^[a-z]$/.test(key))
  return (e.ctrlKey || e.metaKey ? 'Ctrl+' : '') + (e.altKey ? 'Alt+' : '') + (shift ? 'Shift+' : '') + key
}

/** Whether an element takes what is typed. */
export function typesInto(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true
  if (!(target instanceof HTMLInputElement)) return false
  return !['checkbox', 'radio', 'button', 'submit', 'file', 'range'].includes(target.type)
}

function pressed(e: KeyboardEvent): void {
  if (e.defaultPrevented || e.isComposing) return
  if (document.querySelector('dialog:modal')) return // what is under it is out of reach
  const name = keyName(e)
  if (typesInto(e.target) && name !== 'Escape' && name !== 'Ctrl+k') return
  for (let i = layers.length - 1; i >= 0; i--) {
    const handlers = layers[i]?.keys()
    const handler = handlers && Object.hasOwn(handlers, name) ? handlers[name] : undefined
    if (!handler || handler(e) === false) continue
    e.preventDefault()
    return
  }
}

if (typeof window !== 'undefined') window.addEventListener('keydown', pressed)
