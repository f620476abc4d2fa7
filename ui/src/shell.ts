// Commands to paste into a shell.
/** A string as one word of a shell command. */
export function word(s: string): string {
  return /^[\w@%+=:,./-]+$/.test(s) ? s : "'" + s.replaceAll("'", "'\\''") + "'"
}
