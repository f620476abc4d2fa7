// Small parts that the screens of a fleet share.
import type { ComponentChildren, JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { plain } from '../flame/text'
import { num } from '../format'
import { useKeys } from '../keys'
import { t } from '../strings'
import { setParams } from '../url'

/** Says which parts of an answer could not be asked. */
export function Missing(p: { of: (string[] | undefined)[] }): JSX.Element | null {
  const parts = [...new Set(p.of.flatMap((one) => one ?? []))]
  if (parts.length === 0) return null
  return <p class="fleet-missing card" role="status"><span class="mark mark-warn" aria-hidden="true">!</span> {t('fleet.missing', { parts: parts.join(', ') })}</p>
}

/** Says of what a sum is only the largest number there is. */
export function Saturated(p: { of: string[] }): JSX.Element | null {
  if (p.of.length === 0) return null
  const names = p.of.slice(0, MOST_NAMES).map(plain).join(', ') + (p.of.length > MOST_NAMES ? ', …' : '')
  return <p class="fleet-missing card" role="status"><span class="mark mark-warn" aria-hidden="true">!</span> {t('fleet.saturated', { names })}</p>
}

const MOST_NAMES = 10

/** A field that filters, which "/" goes to; what is typed is in the address. */
export function Filter(p: { hint: string; q: string }): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() }, [['/', t('fleet.help.filter')]])
  return (
    <label class="data-field fleet-filter">
      <span>{t('fleet.filter')}</span>
      <input
        ref={field} type="search" value={p.q} spellcheck={false} autocomplete="off" placeholder={p.hint}
        onInput={(e) => setParams({ q: e.currentTarget.value || null }, { replace: true })}
        onKeyDown={(e) => {
          if (e.key === 'Enter' || e.key === 'Escape') e.currentTarget.blur()
          if (e.key === 'Escape') setParams({ q: null }, { replace: true })
        }}
      />
    </label>
  )
}

/** Values over time as small as a word; where nothing was sent there is a gap. */
export function Spark(p: { values: (number | null)[]; unit: string; wide?: boolean }): JSX.Element | null {
  const known = p.values.filter((v) => v !== null)
  const max = Math.max(...known)
  if (known.length === 0) return null
  const width = p.wide ? 240 : 120, height = p.wide ? 40 : 22
  const x = (i: number) => 1 + (p.values.length < 2 ? (width - 2) / 2 : (i * (width - 2)) / (p.values.length - 1))
  const y = (v: number) => height - 2 - (max > 0 ? (v / max) * (height - 4) : 0)
  const first = known[0]!, last = known.at(-1)!
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={t('fleet.spark', { first: num(first, p.unit), last: num(last, p.unit), max: num(max, p.unit) })}>
      {pieces(p.values).map(([from, line]) => {
        const points = line.map((v, k) => `${x(from + k).toFixed(1)},${y(v).toFixed(1)}`)
        const end = from + line.length - 1
        return line.length === 1
          ? <circle key={from} cx={x(from)} cy={y(line[0]!)} r="1.5" />
          : (
            <g key={from}>
              <polygon points={`${x(from).toFixed(1)},${height - 1} ${points.join(' ')} ${x(end).toFixed(1)},${height - 1}`} />
              <polyline points={points.join(' ')} />
            </g>
          )
      })}
    </svg>
  )
}

// pieces are the stretches of values without a gap, with where they begin.
function pieces(values: (number | null)[]): [from: number, line: number[]][] {
  const out: [number, number[]][] = []
  values.forEach((v, i) => {
    if (v === null) return
    const open = out.at(-1)
    if (open && open[0] + open[1].length === i) open[1].push(v)
    else out.push([i, [v]])
  })
  return out
}

/** A list of cards, through which j and k go. */
export function Cards(p: { children: ComponentChildren }): JSX.Element {
  const list = useRef<HTMLDivElement>(null)
  const step = (by: 1 | -1) => {
    const cards = [...(list.current?.querySelectorAll<HTMLElement>('.fleet-card') ?? [])]
    const at = cards.findIndex((c) => c.contains(document.activeElement))
    const next = cards[at < 0 ? (by > 0 ? 0 : cards.length - 1) : Math.min(cards.length - 1, Math.max(0, at + by))]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({ j: () => step(1), k: () => step(-1) }, [['j / k', t('fleet.help.cards')]])
  return <div class="fleet-cards" ref={list}>{p.children}</div>
}

/** What is said and what has it, in two columns. */
export function Rows(p: { rows: [what: string, value: ComponentChildren][] }): JSX.Element {
  return <dl class="data-facts">{p.rows.map(([what, value]) => <FactRow key={what} what={what} value={value} />)}</dl>
}

function FactRow(p: { what: string; value: ComponentChildren }): JSX.Element {
  return <><dt>{p.what}</dt><dd>{p.value}</dd></>
}
