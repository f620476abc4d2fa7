// The reader's editor: a link that opens a file at a line, as the reader wrote it.

/** Templates that are offered; any other of this form can be typed. */
export const EDITORS = ['vscode://file{file}:{line}', 'cursor://file{file}:{line}', 'zed://file{file}:{line}', 'goland://open?file={file}&line={line}', 'idea://open?file={file}&line={line}']

const STORE = 'gowhy.editor'

export function editor(): string {
  try {
    return localStorage.getItem(STORE) ?? ''
  } catch {
    return ''
  }
}

export function setEditor(template: string): void {
  try {
    localStorage.setItem(STORE, template)
  } catch {
    // No storage: it lasts as long as the page.
  }
}

/** The link to a line; none without a template or where the file has no absolute path. */
export function editorLink(template: string, file: string, line: number): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(template)?.[1]?.toLowerCase()
  if (scheme === undefined || ['javascript', 'data', 'vbscript', 'blob'].includes(scheme) || !/^(\/|[a-z]:[\\/])/i.test(file)) return undefined
  const path = file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/').replace(/^([a-z])%3A/i, '/$1:')
  return template.replaceAll('{file}', path).replaceAll('{line}', String(Math.max(1, line)))
}
