// A name that is too long for its place: cut in the middle, because two names of one
// package or folder differ at their ends.
import type { JSX } from 'preact'
import './name.css'

export function Name(p: { text: string }): JSX.Element {
  const [head, tail] = headAndTail(p.text)
  if (head === '') return <>{tail}</>
  return <span class="name" title={p.text}><span class="name-head">{head}</span><span class="name-tail">{tail}</span></span>
}

const FILE = /\.(go|s|c|h|gowhy|json|txt|pprof)(:\d+)?$/

/** The part of a path or of a function's name that may be cut, and the one that tells it from its neighbours. */
export function headAndTail(text: string): [head: string, tail: string] {
  const types = text.indexOf('[') // type arguments have slashes and dots of their own
  const whole = types < 0 ? text : text.slice(0, types)
  const slash = whole.lastIndexOf('/')
  const at = FILE.test(whole) ? slash : whole.lastIndexOf('.')
  return at <= 0 ? ['', text] : [text.slice(0, at + 1), text.slice(at + 1)]
}
