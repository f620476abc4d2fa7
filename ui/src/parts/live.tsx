// What is said to who cannot see that something changed.
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'

let speak: ((text: string) => void) | undefined

/** Has a screen reader say a text when it is free. */
export function say(text: string): void {
  speak?.(text)
}

/** The region that say writes to; the page has one. */
export function Live(): JSX.Element {
  const [text, setText] = useState('')
  useEffect(() => {
    speak = setText
    return () => {
      speak = undefined
    }
  }, [])
  return <div class="sr" aria-live="polite">{text}</div>
}
