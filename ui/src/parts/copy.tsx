import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { toClipboard } from '../data/tsv'
import { t } from '../strings'
import './copy.css'

/** A button that puts a text on the clipboard, and says that it did. */
export function Copy(p: { text: string; label?: string }): JSX.Element {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), 2000)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => {
    toClipboard(p.text).then(
      () => setSaid(t('core.copied')),
      () => setSaid(t('core.notcopied')),
    )
  }
  return (
    <button type="button" class="quiet copy" onClick={copy} title={p.label ?? p.text}>
      <span aria-live="polite">{said || t('core.copy')}</span>
      <span class="sr"> {p.label ?? p.text}</span>
    </button>
  )
}

/** A command to paste into a shell, with its button. */
export function Command(p: { text: string }): JSX.Element {
  return (
    <div class="command">
      <code>{p.text}</code>
      <Copy text={p.text} />
    </div>
  )
}
