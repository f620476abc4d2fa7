// Light or dark: as the system has it, or as the reader chose. The choice is an
// attribute of the root, which theme.css answers to.
import { useEffect, useState } from 'preact/hooks'

export type Choice = 'auto' | 'light' | 'dark'

const STORE = 'gowhy.theme'
const listeners = new Set<() => void>()
const system = typeof matchMedia === 'undefined' ? undefined : matchMedia('(prefers-color-scheme: dark)')
let choice: Choice = kept()

export function themeChoice(): Choice {
  return choice
}

export function setTheme(next: Choice): void {
  choice = next
  try {
    localStorage.setItem(STORE, next)
  } catch {
    // No storage: the choice lasts as long as the page.
  }
  tell()
}

/**
 * What is shown, light or dark; the component renders again when it changes.
 * A canvas reads its colours again when it does.
 */
export function useTheme(): 'light' | 'dark' {
  const [now, set] = useState(shown)
  useEffect(() => {
    const changed = () => set(shown())
    listeners.add(changed)
    return () => void listeners.delete(changed)
  }, [])
  return now
}

/** A colour of theme.css, like css('--running'). */
export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

function shown(): 'light' | 'dark' {
  if (choice !== 'auto') return choice
  return system?.matches ? 'dark' : 'light'
}

function tell(): void {
  if (typeof document !== 'undefined') document.documentElement.dataset['theme'] = shown()
  for (const listener of [...listeners]) listener()
}

function kept(): Choice {
  try {
    const v = localStorage.getItem(STORE)
    if (v === 'light' || v === 'dark') return v
  } catch {
    // No storage: as the system has it.
  }
  return 'auto'
}

system?.addEventListener('change', tell)
tell()
