import type { JSX } from 'preact'
import { MARKS } from './paint'
import type { FrameKind } from './tree'

/** The colour and the marks of a kind of function, as the picture has them. */
export function Swatch(p: { kind: FrameKind }): JSX.Element {
  const { dots, height } = MARKS[p.kind]
  return (
    <svg class={'flame-swatch flame-' + p.kind} viewBox="0 0 24 14" aria-hidden="true" focusable="false">
      <rect width="24" height="14" />
      {[0, 8, 16].flatMap((x) => [...dots].map((d, i) => d === '#' && <path key={x + i} d={`M${x + i} ${14 - height}h1v${height}h-1z`} />))}
    </svg>
  )
}
