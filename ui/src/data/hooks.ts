import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { Clock } from './clock'

/** The width of an element in pixels, as it is now. */
export function useWidth(ref: { current: Element | null }, before: number): number {
  const [width, setWidth] = useState(before)
  useLayoutEffect(() => {
    const el = ref.current
    if (!el) return
    const read = () => setWidth(Math.max(120, Math.floor(el.clientWidth)))
    read()
    const seen = new ResizeObserver(read)
    seen.observe(el)
    return () => seen.disconnect()
  }, [])
  return width
}

/** Where the shared cursor is. */
export function useClock(clock: Clock): number | null {
  const [at, setAt] = useState(clock.at)
  useEffect(() => clock.subscribe(setAt), [clock])
  return at
}
