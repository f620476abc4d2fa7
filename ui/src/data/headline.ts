// What of a diagnosis' summary is the verdict's own, and what is a doubt about it.
import type { Diagnosis } from '../api'

/** The first finding's sentence, and what the summary says beside it; without one, all of the summary. */
export function headline(d: Pick<Diagnosis, 'summary' | 'findings'>): [own: string, beside: string] {
  const first = d.findings[0]?.summary ?? ''
  if (first === '' || !d.summary.startsWith(first)) return [d.summary, '']
  return [first, d.summary.slice(first.length).replace(/^[.\s]+/, '')]
}
