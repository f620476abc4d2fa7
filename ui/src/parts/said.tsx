import type { ComponentChildren, JSX } from 'preact'
import { href } from '../url'

/**
 * A sentence of the diagnosis: English whatever the page's language is, and what
 * it puts between backquotes is code.
 */
export function Said(p: { text: string }): JSX.Element {
  const parts = p.text.split('`')
  // A backquote without its partner is one of the text.
  const paired = parts.length % 2 === 1
  return <span lang="en">{paired ? parts.map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part)) : p.text}</span>
}

/** What leads to a place of the page, or just what it is when there is no place. */
export function To(p: { link: string | undefined; title?: string; children: ComponentChildren }): JSX.Element {
  if (!p.link) return <>{p.children}</>
  return <a href={href(p.link)} {...(p.title ? { title: p.title } : {})}>{p.children}</a>
}
