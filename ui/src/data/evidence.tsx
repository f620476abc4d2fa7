// What each piece of evidence says by itself: how much there is of what it counts, and
// what has most of it.
import type { JSX } from 'preact'
import type { Account, AccountRow, Diagnosis, FindingLinks } from '../api'
import { share } from '../format'
import { Bar } from '../parts/bar'
import { Said, To } from '../parts/said'
import { t, tn } from '../strings'
import './evidence.css'

/** The accounts of a diagnosis: in full where they are the answer. */
export function Accounts(p: { d: Diagnosis; links: FindingLinks[] }): JSX.Element | null {
  const list = p.d.accounts ?? []
  if (list.length === 0) return null
  return (
    <section class="accounts" aria-labelledby="accounts">
      <h2 id="accounts">{t('core.accounts')}</h2>
      <ul>
        {list.map((a, i) => (
          // The verdict of partial evidence begins with what the first one says.
          <li key={i} class="card"><One a={a} links={p.links[i]} told={p.d.summary.startsWith(a.text)} /></li>
        ))}
      </ul>
    </section>
  )
}

function One(p: { a: Account; links: FindingLinks | undefined; told: boolean }): JSX.Element {
  const { a, links } = p
  const name = tn('core.source.' + a.source, a.source)
  return (
    <>
      <h3>{name}</h3>
      {!p.told && <p class="accounts-text"><Said text={a.text} /></p>}
      {a.rows.length > 0 && (
        <table class="accounts-rows">
          <caption class="sr">{name}</caption>
          <thead class="sr">
            <tr><th scope="col">{t('core.evidence.what')}</th><th scope="col">{t('core.time.share')}</th><th scope="col">{t('core.evidence.value')}</th></tr>
          </thead>
          <tbody>{a.rows.map((r, i) => <Row key={i} r={r} to={links?.evidence[i]?.to} place={links?.where[i]} />)}</tbody>
        </table>
      )}
    </>
  )
}

function Row(p: { r: AccountRow; to: string | undefined; place: string | undefined }): JSX.Element {
  const { r } = p
  const line = r.where && r.where.file !== '' ? r.where.file.slice(r.where.file.lastIndexOf('/') + 1) + (r.where.line > 0 ? `:${r.where.line}` : '') : ''
  return (
    <tr>
      <th scope="row">
        {r.where ? <To link={p.place}><code>{r.name}</code></To> : <Said text={r.name} />}
        {line !== '' && <code class="accounts-line" title={r.where?.file}>{line}</code>}
        {r.share > 0 && <Bar share={r.share} />}
        {r.note && <small class="muted"><Said text={r.note} /></small>}
      </th>
      <td class="right muted">{r.share > 0 && share(r.share)}</td>
      <td class="right"><To link={p.to}>{r.value.text}</To></td>
    </tr>
  )
}
