import type { JSX } from 'preact'
import { useMark } from '../fact'
import { useKeys } from '../keys'
import { t } from '../strings'
import { here, href, setParams } from '../url'
import { Said } from './said'

/** What the screen marks, where that comes from, and how to be rid of it. */
export function Marked(p: { r: number }): JSX.Element | null {
  const mark = useMark(p.r)
  const dismiss = () => setParams({ fact: null, col: null })
  useKeys(mark ? { Escape: dismiss } : {}, mark ? [['Esc', t('core.marked.dismiss')]] : [])
  if (!mark) return null
  const { fact, lead } = mark
  const screen = here().screen
  return (
    <div class="marked" role="status">
      <span class="marked-what">{t('core.marked')} <Said text={fact.name} /> <b>{fact.text}</b></span>
      {lead !== fact && <span class="muted"><Said text={lead.name} /> {lead.text}</span>}
      {screen !== 'number' && <a href={href('number?fact=' + (here().params.get('fact') ?? ''))}>{t('core.marked.how')}</a>}
      {screen === 'number' && !mark.to.startsWith('number') && <a href={href(mark.to)}>{t('core.marked.see')}</a>}
      {mark.finding > 0
        ? <a href={href('findings?f=' + mark.finding)}>{t('core.marked.finding', { n: mark.finding })}</a>
        : <a href={href('findings')}>{t('core.screen.findings')}</a>}
      <button type="button" class="quiet" onClick={dismiss} aria-label={t('core.marked.dismiss')} title={t('core.marked.dismiss')}>×</button>
    </div>
  )
}
