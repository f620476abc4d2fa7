import { useMemo, useState } from 'preact/hooks'
import type { Found } from './search'
import { holdsMarks, outermost, type Tree } from './tree'

/**
 * The frame that the keys are at: what was zoomed to, or the largest that a search
 * found, until the reader moves it.
 */
export function useCursor(tree: Tree, focus: number, found: Found | null): [number, (i: number) => void] {
  const [at, set] = useState<{ tree: Tree; i: number } | null>(null)
  const largest = useMemo(() => {
    if (focus > 0) return focus
    if (!found) return holdsMarks(tree)
    const tops = outermost(tree, (f) => found.match[f] === 1)
    return tops.reduce((best, i) => (best < 0 || tree.sum[i]! > tree.sum[best]! ? i : best), -1)
  }, [tree, focus, found])
  const present = at && at.tree === tree ? at.i : largest
  return [present, (i) => set({ tree, i })]
}
