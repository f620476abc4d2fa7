import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../strings'
import { pathTo, type Tree } from './tree'

/** Where the focus is: each step leads back. */
export function Path(p: { tree: Tree; names: string[]; rootName: string; focus: number; onFocus(i: number): void }): JSX.Element {
  const path = pathTo(p.tree, p.focus)
  const box = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (box.current) box.current.scrollLeft = box.current.scrollWidth
  }, [p.focus, p.tree])
  return (
    <nav class="flame-path" aria-label={t('flame.path')} ref={box}>
      {path.map((i, k) => (
        <span key={i}>
          {k > 0 && <span aria-hidden="true"> › </span>}
          {k === path.length - 1
            ? <b aria-current="location">{i === 0 ? p.rootName : p.names[p.tree.func[i]!]}</b>
            : <button type="button" class="quiet" onClick={() => p.onFocus(i)}>{i === 0 ? p.rootName : p.names[p.tree.func[i]!]}</button>}
        </span>
      ))}
    </nav>
  )
}
