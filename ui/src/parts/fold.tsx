import type { ComponentChildren, JSX } from 'preact'
import { setParams, usePlace } from '../url'

/**
 * A part that opens and closes. What the reader changed is in the URL, by the
 * part's id, so that a link shows what its sender saw.
 */
export function Fold(p: { id: string; title: ComponentChildren; open?: boolean; class?: string; children: ComponentChildren }): JSX.Element {
  const toggled = usePlace().params.get('open')?.split(',') ?? []
  const open = toggled.includes(p.id) !== (p.open ?? false)
  const change = (now: boolean) => {
    if (now === open) return // the browser tells of what was set here, too
    const next = toggled.includes(p.id) ? toggled.filter((id) => id !== p.id) : [...toggled, p.id]
    setParams({ open: next.length > 0 ? next.join(',') : null }, { replace: true })
  }
  return (
    <details class={'fold ' + (p.class ?? '')} open={open} onToggle={(e) => change(e.currentTarget.open)}>
      <summary>{p.title}</summary>
      {p.children}
    </details>
  )
}
