// How well a name fits a few letters that somebody typed.

export interface Named {
  name: string
  /** The part of the name that people say, like a method without its package. */
  short?: string
}

/** Those that fit, best first; of equal ones the order stays. Without letters all fit. */
export function rank<T extends Named>(items: readonly T[], typed: string): T[] {
  const want = typed.trim().toLowerCase()
  if (want === '') return [...items]
  return items
    .map((item) => ({ item, fit: Math.max(fit(item.name, want), item.short === undefined ? 0 : fit(item.short, want)) }))
    .filter((x) => x.fit > 0)
    .sort((a, b) => b.fit - a.fit)
    .map((x) => x.item)
}

/**
 * From 0, which does not fit, to 1: a beginning fits better than the beginning of a
 * word, that better than the middle of one, and letters with others between them worst.
 */
export function fit(name: string, want: string): number {
  const text = name.toLowerCase()
  const long = 1 / (1 + text.length / 100) // of equals the shorter
  const i = text.indexOf(want)
  if (i === 0) return 0.9 + long / 10
  if (i > 0) return (wordBegins(name, i) ? 0.7 : 0.5) + long / 10
  let at = -1
  let spread = 0
  for (const ch of want) {
    if (ch === ' ') continue
    const next = text.indexOf(ch, at + 1)
    if (next < 0) return 0
    if (at >= 0) spread += next - at - 1
    at = next
  }
  return spread > 3 * want.length ? 0 : 0.3 / (1 + spread / 4)
}

function wordBegins(name: string, i: number): boolean {
  const before = name[i - 1] ?? ''
  return !/[\p{L}\p{N}]/u.test(before) || (/\p{Lu}/u.test(name[i] ?? '') && /\p{Ll}/u.test(before))
}
