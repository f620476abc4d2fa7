// Files that are dropped anywhere on the page, or chosen, become runs of the
// session. They go to the server of this machine and nowhere else.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Failure, Upload } from './api'
import { ApiError, isStatic, problem } from './client'
import { count, share } from './format'
import { say } from './parts/live'
import { Hint } from './parts/states'
import { t } from './strings'
import './drop.css'

/** What opening files is at. */
type Progress =
  | { at: 'sending'; name: string; part: number }
  | { at: 'reading'; name: string }
  | { at: 'failed'; name: string; error: ApiError }

interface Opening {
  progress: Progress | undefined
  open(files: File[]): void
  dismiss(): void
}

/** Opens files; `opened` is told what they became. */
export function useOpening(opened: (u: Upload) => void): Opening {
  const [progress, setProgress] = useState<Progress | undefined>(undefined)
  const open = (files: File[]) => {
    const first = files[0]
    const name = files.length === 1 && first ? first.name : count(files.length)
    if (!first) {
      setProgress({ at: 'failed', name: '', error: new ApiError(t('core.drop.nofile'), '', 0) })
      return
    }
    setProgress({ at: 'sending', name, part: 0 })
    send(files, (part) => setProgress(part < 1 ? { at: 'sending', name, part } : { at: 'reading', name })).then(
      (u) => {
        setProgress(undefined)
        say(t('core.drop.done', { name }))
        opened(u)
      },
      (e: unknown) => setProgress({ at: 'failed', name, error: problem(e) }),
    )
  }
  return { progress, open, dismiss: () => setProgress(undefined) }
}

// send hands files over. fetch cannot tell how far an upload is, XMLHttpRequest can.
function send(files: File[], tell: (part: number) => void): Promise<Upload> {
  const form = new FormData()
  for (const f of files) form.append('file', f, f.name)
  return new Promise((resolve, reject) => {
    const r = new XMLHttpRequest()
    r.open('POST', 'api/upload')
    r.responseType = 'json'
    r.upload.onprogress = (e) => tell(e.lengthComputable ? e.loaded / e.total : 0)
    r.upload.onload = () => tell(1)
    r.onerror = () => reject(new ApiError(t('core.error.gone'), t('core.error.gone.hint'), 0))
    r.onload = () => {
      if (r.status >= 200 && r.status < 300) return resolve(r.response as Upload)
      const told = r.response as Partial<Failure> | null
      reject(new ApiError(told?.error || t('core.error.status', { status: r.status }), told?.hint ?? '', r.status))
    }
    r.send(form)
  })
}

/** The whole page as a place to drop files on, and what became of them. */
export function DropZone(p: { opening: Opening }): JSX.Element | null {
  const [over, setOver] = useState(false)
  const open = useRef(p.opening.open)
  open.current = p.opening.open
  useEffect(() => {
    if (isStatic) return
    const hasFiles = (e: DragEvent) => e.dataTransfer?.types.includes('Files') ?? false
    const enter = (e: DragEvent) => {
      if (!hasFiles(e)) return
      e.preventDefault()
      setOver(true)
    }
    const leave = (e: DragEvent) => {
      if (e.relatedTarget === null) setOver(false) // out of the window, not from one element to the next
    }
    const drop = (e: DragEvent) => {
      if (!hasFiles(e)) return
      e.preventDefault()
      setOver(false)
      open.current([...(e.dataTransfer?.files ?? [])])
    }
    window.addEventListener('dragenter', enter)
    window.addEventListener('dragover', enter)
    window.addEventListener('dragleave', leave)
    window.addEventListener('drop', drop)
    return () => {
      window.removeEventListener('dragenter', enter)
      window.removeEventListener('dragover', enter)
      window.removeEventListener('dragleave', leave)
      window.removeEventListener('drop', drop)
    }
  }, [])
  return (
    <>
      {over && (
        <div class="drop" aria-hidden="true">
          <div class="drop-box">
            <strong>{t('core.drop.here')}</strong>
            <span>{t('core.drop.what')}</span>
          </div>
        </div>
      )}
      <Message opening={p.opening} />
    </>
  )
}

function Message(p: { opening: Opening }): JSX.Element | null {
  const now = p.opening.progress
  if (!now) return null
  if (now.at === 'failed') {
    return (
      <div class="message card" role="alert">
        <p><span class="mark mark-bad" aria-hidden="true">!</span> {now.name === '' ? now.error.message : t('core.drop.failed', { name: now.name, what: now.error.message })}</p>
        {now.error.hint !== '' && <Hint text={now.error.hint} />}
        <button type="button" onClick={p.opening.dismiss}>{t('core.drop.dismiss')}</button>
      </div>
    )
  }
  return (
    <div class="message card" role="status">
      <p><span class="spinner" aria-hidden="true" />{now.at === 'sending' ? t('core.drop.sending', { name: now.name, share: share(now.part) }) : t('core.drop.reading', { name: now.name })}</p>
      <progress aria-label={now.name} {...(now.at === 'sending' ? { value: now.part, max: 1 } : {})} />
    </div>
  )
}

/** A button that lets files be chosen, for who cannot or will not drag. */
export function ChooseFiles(p: { opening: Opening; label: string; title?: string; class?: string }): JSX.Element {
  const input = useRef<HTMLInputElement>(null)
  const chosen = () => {
    const files = [...(input.current?.files ?? [])]
    if (input.current) input.current.value = ''
    if (files.length > 0) p.opening.open(files)
  }
  return (
    <>
      <button type="button" class={p.class ?? ''} title={p.title ?? ''} onClick={() => input.current?.click()}>{p.label}</button>
      <input ref={input} type="file" multiple hidden aria-hidden="true" tabIndex={-1} onChange={chosen} />
    </>
  )
}
