import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isStatic } from '../client'
import { t } from '../strings'

/** A card with a heading. */
export function Panel(p: { title?: string; id?: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="card data-panel" id={p.id}>
      {p.title && <h3>{p.title}</h3>}
      {p.children}
    </section>
  )
}

/** A field that asks while one types, a moment after the last letter. */
export function FilterBox(p: { value: string; onValue(v: string): void; placeholder: string }): JSX.Element | null {
  const [text, setText] = useState(p.value)
  useEffect(() => setText(p.value), [p.value])
  useEffect(() => {
    if (text === p.value) return
    const timer = setTimeout(() => p.onValue(text), 200)
    return () => clearTimeout(timer)
  }, [text])
  if (isStatic) return null
  return (
    <input
      type="search"
      class="data-filter"
      value={text}
      placeholder={p.placeholder}
      aria-label={p.placeholder}
      spellcheck={false}
      onInput={(e) => setText(e.currentTarget.value)}
      onKeyDown={(e) => {
        if (e.key === 'Enter') p.onValue(text)
      }}
    />
  )
}

/** Lines that say what is to be known before the figures are believed. */
export function Warnings(p: { list: readonly string[] | null | undefined }): JSX.Element | null {
  if (!p.list?.length) return null
  return (
    <ul class="data-list" aria-label={t('data.warnings')}>
      {p.list.map((w, i) => (
        <li key={i} class="data-warn"><span class="mark mark-warn" aria-hidden="true">!</span><span>{w}</span></li>
      ))}
    </ul>
  )
}
