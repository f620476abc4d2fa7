// A share as a table row with a bar: the bar is for the eye, the figures beside
// it say the same.
import type { JSX } from 'preact'
import './bar.css'

export function Bar(p: { share: number }): JSX.Element {
  const width = Math.min(1, Math.max(0, p.share))
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="bar-all" x="0" y="0" width="100" height="10" />
      <rect class="bar-part" x="0" y="0" width={width * 100} height="10" />
    </svg>
  )
}
