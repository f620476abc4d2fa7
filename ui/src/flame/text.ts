// Names as a picture can show them: cut to a width, and harmless.

// Control characters have no shape, and those of direction would turn the text
// around that follows them.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A name in one line, with a sign for each character that has no shape. */
export function plain(name: string): string {
  return name.replace(UNSEEN, '\ufffd')
}

/** A function's name without the path of its package: "http.(*conn).serve". */
export function short(name: string): string {
  const types = name.indexOf('[') // type arguments have slashes of their own
  const slash = name.lastIndexOf('/', types < 0 ? name.length : types)
  return name.slice(slash + 1)
}

/** A function's name without its package: "(*conn).serve". */
export function bare(name: string): string {
  const last = short(name)
  const dot = /^[^.()[\]]+\.(?!(?:part|isra|constprop|cold|so)\b)(?=.)/.exec(last) // not of C: "schedule.part.0"
  return dot ? last.slice(dot[0].length) : last
}

/**
 * As much of a name as has room in a number of cells of a mono font: without its
 * path, then without its package, then without its end.
 */
export function fit(name: string, cells: number): string {
  if (cells < 3) return ''
  if (width(name, cells) <= cells) return name
  let last = short(name)
  if (width(last, cells) <= cells) return last
  last = bare(name)
  if (width(last, cells) <= cells) return last
  let used = 1 // of the sign for what is missing
  let out = ''
  for (const ch of last) {
    used += wide(ch) ? 2 : 1
    if (used > cells) break
    out += ch
  }
  return out + '…'
}

// width counts cells, and stops counting when there are more than enough.
function width(s: string, enough: number): number {
  let n = 0
  for (const ch of s) {
    n += wide(ch) ? 2 : 1
    if (n > enough) break
  }
  return n
}

/** Characters that are two cells wide in a mono font. */
function wide(ch: string): boolean {
  const c = ch.codePointAt(0)!
  return c >= 0x1100 && (c <= 0x115f || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) || (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd))
}
