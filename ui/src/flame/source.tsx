// The lines of one function beside the picture: what each costs, and what of it the
// compiler moved to the heap.
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { SourceLine, SourceText as Answer } from '../api'
import { useData } from '../client'
import { editor, editorLink, EDITORS, setEditor } from '../editor'
import { share } from '../format'
import { Failed, Loading } from '../parts/states'
import { t } from '../strings'
import { amount } from './describe'
import type { View } from './place'
import { plain, short } from './text'
import './source.css'

interface Props {
  r: number
  v: View
  kind: string
  /** The function that the keys are at; "" for the root. */
  fn: string
  close(): void
}

export function Source(p: Props): JSX.Element {
  const { data, error } = useData<Answer>(p.fn === '' ? null : 'api/source', {
    r: p.r, kind: p.kind, group: p.v.group || undefined, label: p.v.label || undefined, from: p.v.time?.from, to: p.v.time?.to, fn: p.fn,
  })
  return (
    <section class="source" aria-labelledby="source-title">
      <div class="source-head">
        <h2 id="source-title" class="mono clip" title={p.fn}>{p.fn === '' ? t('flame.source') : short(plain(p.fn))}</h2>
        <button type="button" class="quiet" onClick={p.close} aria-label={t('flame.source.close')} title={t('flame.source.close')}>✕</button>
      </div>
      {p.fn === '' ? <p class="muted">{t('flame.source.choose')}</p> : error ? <Failed error={error} /> : !data ? <Loading /> : <Lines of={data} meant={p.v.line} />}
    </section>
  )
}

function Lines(p: { of: Answer; meant: number }): JSX.Element {
  const { of } = p
  const [template, setTemplate] = useState(editor)
  const most = Math.max(1, ...of.lines.map((l) => l.sum))
  return (
    <>
      <p class="muted mono clip" title={plain(of.path || of.file)}>{plain(of.file)}</p>
      {of.missing !== '' && <p>{t('flame.source.missing', { why: of.missing })}</p>}
      {of.note !== '' && <p class="muted">{of.note}</p>}
      <div class="source-scroll" tabIndex={0}>
        <table>
          <caption class="sr">{t('flame.source.caption', { name: of.func })}</caption>
          <thead>
            <tr><th scope="col">{t('flame.col.self')}</th><th scope="col">{t('flame.col.total')}</th><th scope="col">{t('flame.source.line')}</th><th scope="col">{t('flame.source.text')}</th></tr>
          </thead>
          <tbody>{of.lines.map((l) => <Line key={l.number} of={of} l={l} most={most} meant={l.number === p.meant} link={editorLink(template, of.path, l.number)} />)}</tbody>
        </table>
      </div>
      {of.path !== '' && (
        <label class="source-editor">
          {t('flame.source.editor')}{' '}
          <input
            list="editors" value={template} aria-invalid={template !== '' && editorLink(template, '/', 1) === undefined} title={t('flame.source.editor.form')} placeholder={EDITORS[0]} spellcheck={false}
            onInput={(e) => {
              setTemplate(e.currentTarget.value)
              setEditor(e.currentTarget.value)
            }}
          />
          <datalist id="editors">{EDITORS.map((e) => <option key={e} value={e} />)}</datalist>
        </label>
      )}
    </>
  )
}

function Line(p: { of: Answer; l: SourceLine; most: number; meant: boolean; link: string | undefined }): JSX.Element {
  const { of, l } = p
  const figure = (v: number) => (v > 0 ? <span title={share(v / Math.max(1, of.total))}>{amount(v, of.unit)}</span> : '')
  const row = useRef<HTMLTableRowElement>(null)
  useLayoutEffect(() => row.current?.style.setProperty('--part', String(l.sum / p.most)), [l.sum, p.most])
  useEffect(() => {
    if (p.meant) row.current?.scrollIntoView({ block: 'nearest' })
  }, [p.meant])
  return (
    <tr ref={row} class={(l.sum > 0 ? 'source-costs' : '') + (p.meant ? ' source-meant' : '')} aria-current={p.meant ? 'location' : undefined}>
      <td class="right">{figure(l.self)}</td>
      <td class="right">{figure(l.sum)}</td>
      <td class="right">{p.link ? <a href={p.link}>{l.number}</a> : l.number}</td>
      <td>
        {plain(l.text.replaceAll('\t', '    '))}
        {l.escapes.length > 0 && <small>{'  '}{t('flame.source.escapes', { what: l.escapes.map(plain).join(', ') })}</small>}
      </td>
    </tr>
  )
}
