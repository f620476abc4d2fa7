// Which rows of a long list are drawn. A list of a million rows is a box of its
// height with the few rows that are in sight, moved to where they belong.
//
// Browsers stop at about 17 million pixels (Firefox) to 33 million (Chromium) of
// height: beyond MAX_PX the box is shorter than its rows together, and scrolling
// goes over the rows in proportion.

const MAX_PX = 8_000_000

/** Rows drawn beyond each edge, so that scrolling shows no gap before the next picture. */
const SPARE = 8

export interface VirtualWindow {
  /** First row drawn, and the one after the last. */
  first: number
  end: number
  /** Pixels from the top of the box to the first row drawn. */
  top: number
  /** Pixels of the whole box. */
  height: number
}

/** The rows to draw when `scroll` pixels of the box are above a view of `view` pixels. */
export function virtualWindow(scroll: number, view: number, rows: number, row: number): VirtualWindow {
  const full = rows * row
  const height = Math.min(full, MAX_PX)
  const seen = Math.ceil(view / row)
  const place = rowOffset(scroll, view, rows, row)
  const at = Math.floor(place / row)
  const first = Math.max(0, Math.min(at, rows - seen) - SPARE)
  const end = Math.min(rows, at + seen + 1 + SPARE)
  // Where row `at` would be in a box of full height, shifted by what the short box lacks.
  const top = first * row - place + Math.max(0, Math.min(scroll, Math.max(0, height - view)))
  return { first, end: Math.max(first, end), top, height }
}

/** The scroll position that brings row `index` into view, or the present one when it is in view. */
export function scrollToRow(index: number, scroll: number, view: number, rows: number, row: number): number {
  const place = rowOffset(scroll, view, rows, row)
  let want = place
  if (index * row < place) want = index * row
  else if ((index + 1) * row > place + view) want = (index + 1) * row - view
  if (want === place) return scroll
  const full = rows * row
  const height = Math.min(full, MAX_PX)
  if (full <= view) return 0
  return (want / (full - view)) * (height - view)
}

// rowOffset is how far a view at `scroll` is into the rows, had they all their height.
function rowOffset(scroll: number, view: number, rows: number, row: number): number {
  const full = rows * row
  const height = Math.min(full, MAX_PX)
  if (height <= view) return 0
  const share = Math.min(1, Math.max(0, scroll / (height - view)))
  return share * (full - view)
}
