// The palette: everything that has a name, found by a few letters of it.
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Findings, Flame, Session, Table } from './api'
import { isStatic, useData } from './client'
import { bare, plain } from './flame/text'
import { rank, type Named } from './rank'
import { t, tn } from './strings'
import { go } from './url'
import './palette.css'

interface Item extends Named {
  kind: string
  act(): void
}

export interface PaletteProps {
  session: Session
  r: number
  has: string[]
  /** What the frame of the page can do. */
  commands: { name: string; act(): void }[]
  close(): void
}

/** How many functions are asked for: those that have most. */
const FUNCTIONS = 3000
const SHOWN = 60

export function Palette(p: PaletteProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const items = useItems(p)
  const found = useMemo(() => rank(items, text).slice(0, SHOWN), [items, text])
  useEffect(() => dialog.current?.showModal(), [])
  useEffect(() => setAt(0), [text])
  useEffect(() => dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }), [at, found])
  const choose = (item: Item | undefined): void => {
    if (!item) return
    dialog.current?.close()
    item.act()
  }
  const key = (e: KeyboardEvent): void => {
    const by = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) setAt((at + by + found.length) % Math.max(1, found.length))
    else if (e.key === 'Enter' && !e.isComposing) choose(found[at])
    else return
    e.preventDefault()
  }
  return (
    <dialog ref={dialog} class="palette" aria-label={t('core.palette')} onClose={p.close} onClick={(e) => e.target === dialog.current && dialog.current?.close()}>
      <input
        type="text" value={text} placeholder={t('core.palette.hint')} aria-label={t('core.palette')} role="combobox" aria-expanded="true" aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${at}` : undefined} autocomplete="off" spellcheck={false} onInput={(e) => setText(e.currentTarget.value)} onKeyDown={key}
      />
      {found.length === 0 && <p class="muted" role="status">{t('core.palette.none')}</p>}
      <ul id="palette-list" role="listbox" aria-label={t('core.palette')}>
        {found.map((item, i) => (
          <li key={item.kind + item.name + i} id={`palette-${i}`} role="option" aria-selected={i === at} onPointerMove={() => setAt(i)} onClick={() => choose(item)}>
            <span class="clip" title={item.name}>{item.name}</span><small>{item.kind}</small>
          </li>
        ))}
      </ul>
    </dialog>
  )
}

function useItems(p: PaletteProps): Item[] {
  const { session, r, has } = p
  const findings = useData<Findings>(session.runs[r] ? 'api/findings' : null, { r }).data
  // A report file answers what its screens ask, and nothing else.
  const groups = useData<Table>(has.includes('goroutines') ? 'api/groups' : null, { r }).data
  const flame = useData<Flame>(has.includes('flame') && !isStatic ? 'api/flame' : null, { r, limit: FUNCTIONS }).data
  return useMemo(() => {
    const items: Item[] = []
    for (const name of has) if (name !== 'number') items.push({ name: tn('core.screen.' + name), kind: t('core.palette.screen'), act: () => go(name) })
    findings?.diagnosis?.findings.forEach((f, i) => items.push({ name: `${i + 1}. ${f.title}`, kind: t('core.palette.finding'), act: () => go(`findings?f=${i + 1}`) }))
    for (const c of p.commands) items.push({ name: c.name, kind: t('core.palette.command'), act: c.act })
    session.runs.forEach((run, i) => i !== r && items.push({ name: run.name, kind: t('core.palette.run'), act: () => go(`findings?r=${i}`) }))
    const column = groups?.columns.findIndex((c) => c.key === 'group') ?? -1
    for (const row of groups?.rows ?? []) {
      const group = String(row[column] ?? '')
      if (group !== '') items.push({ name: plain(group), short: bare(group), kind: t('core.palette.group'), act: () => go('goroutines?group=' + encodeURIComponent(group)) })
    }
    for (const fn of flame?.names ?? []) {
      items.push({ name: plain(fn), short: bare(fn), kind: t('core.palette.function'), act: () => go(`flame?kind=${flame!.kind}&q=${encodeURIComponent(fn)}`) })
    }
    return items
  }, [findings, groups, flame, session, has.join(), r])
}
