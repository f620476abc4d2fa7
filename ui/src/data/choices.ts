// Choices that stand in the URL as a list with commas: lines that are hidden, tables
// that are open.

export function setOf(list: string | null): Set<string> {
  return new Set((list ?? '').split(',').filter((s) => s !== ''))
}

/** The set with a name more, or without it. */
export function flip(set: ReadonlySet<string>, name: string): Set<string> {
  const next = new Set(set)
  if (!next.delete(name)) next.add(name)
  return next
}

export function listOf(set: ReadonlySet<string>): string | null {
  return set.size === 0 ? null : [...set].sort().join(',')
}

/** The lines of one chart among those that are hidden. */
export function hiddenOf(hidden: ReadonlySet<string>, chart: string): Set<string> {
  return new Set([...hidden].filter((h) => h.startsWith(chart + '.')).map((h) => h.slice(chart.length + 1)))
}
