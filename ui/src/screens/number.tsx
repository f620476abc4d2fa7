// One number of a finding: how it was computed, from what, and what was counted.
import type { JSX } from 'preact'
import type { Derivation, Fact, FactLink } from '../api'
import { useData } from '../client'
import { Said, To } from '../parts/said'
import { Empty, Failed, Loading } from '../parts/states'
import { t, tn } from '../strings'
import { usePlace } from '../url'
import './number.css'

export function NumberScreen(p: { r: number }): JSX.Element {
  const address = usePlace().params.get('fact')
  const { data, error } = useData<Derivation>(address === null ? null : 'api/number', { r: p.r, fact: address ?? undefined })
  if (address === null) return <Empty text={t('core.number.none')} />
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  const { fact, rows, pictures } = data
  return (
    <div class="number card">
      <h2><Said text={fact.name} /></h2>
      <p class="number-value">{fact.text}</p>
      <p class="muted"><Said text={data.finding} /></p>
      <Origin f={fact} />
      {fact.operands && <Operands list={fact.operands} links={data.operands} />}
      {rows.length > 0 && (
        <>
          <h3>{t('core.number.counted')}</h3>
          <table class="number-rows">
            <tbody>{rows.map((r, i) => <tr key={i}><th scope="row"><code>{r.what}</code></th><td class="right">{r.text}</td></tr>)}</tbody>
          </table>
        </>
      )}
      {pictures && pictures.length > 0 && (
        <ul class="number-see">{pictures.map((l) => <li key={l.to}><To link={l.to}>{tn(l.title)}</To></li>)}</ul>
      )}
    </div>
  )
}

// Origin says where a number was measured, or by which formula it was computed.
function Origin(p: { f: Fact }): JSX.Element {
  const o = p.f.origin
  return (
    <dl class="number-origin">
      <div><dt>{t(o.kind === 'computed' ? 'core.number.formula' : 'core.number.measured')}</dt><dd><Said text={o.text} /></dd></div>
      {o.functions && o.functions.length > 0 && <div><dt>{t('core.number.functions')}</dt><dd>{o.functions.map((f) => <code key={f}>{f}</code>)}</dd></div>}
      {o.groups && o.groups.length > 0 && <div><dt>{t('core.number.groups')}</dt><dd>{o.groups.map((g) => <code key={g}>{g}</code>)}</dd></div>}
    </dl>
  )
}

// Operands are what a number was computed from, down to what was measured.
function Operands(p: { list: Fact[]; links: FactLink[] | null }): JSX.Element {
  return (
    <ul class="number-operands">
      {p.list.map((f, i) => (
        <li key={i}>
          <Said text={f.name} /> <b><To link={p.links?.[i]?.to}>{f.text}</To></b> <span class="muted"><Said text={f.origin.text} /></span>
          {f.operands && <Operands list={f.operands} links={p.links?.[i]?.operands ?? null} />}
        </li>
      ))}
    </ul>
  )
}
