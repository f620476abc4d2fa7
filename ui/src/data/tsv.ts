import type { ComponentChildren } from 'preact'

/** Rows as tab-separated text, as spreadsheets read it. */
export function tsv(rows: string[][]): string {
  return rows.map((r) => r.map(tsvCell).join('\t')).join('\n') + '\n'
}

/**
 * One cell. A name with a tab or a line break would shift all that follows, so it
 * is quoted; one that begins like a formula (=, +, -, @ before something that is
 * no number) gets an apostrophe, so that a spreadsheet does not run what a
 * recording says.
 */
export function tsvCell(s: string): string {
  if (/^[=@]/.test(s) || (/^[+-]/.test(s) && !/^[+-][\d.]/.test(s))) s = "'" + s
  if (/["\t\n\r]/.test(s)) return '"' + s.replaceAll('"', '""') + '"'
  return s
}

/** The text in a cell: what is written in its elements, without what they draw. */
export function textOf(c: ComponentChildren): string {
  if (c === null || c === undefined || typeof c === 'boolean') return ''
  if (typeof c === 'string' || typeof c === 'number' || typeof c === 'bigint') return String(c)
  if (Array.isArray(c)) return c.map(textOf).join('')
  const props = (c as { props?: { children?: ComponentChildren } }).props
  return props ? textOf(props.children) : ''
}

/** Puts text on the clipboard. It throws where the browser does not let it. */
export async function toClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  // Pages that are neither https nor loopback have no clipboard object.
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'off-screen'
  document.body.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  if (!done) throw new Error('the browser did not copy')
}
