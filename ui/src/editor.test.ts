import { describe, expect, it } from 'vitest'
import { editorLink } from './editor'

describe('the link to an editor', () => {
  it('has the file and the line where the reader put them', () => {
    expect(editorLink('vscode://file{file}:{line}', '/src/a b.go', 7)).toBe('vscode://file/src/a%20b.go:7')
    expect(editorLink('goland://open?file={file}&line={line}', '/src/a.go', 0)).toBe('goland://open?file=/src/a.go&line=1')
  })
  it('is none where nothing is set, where the file has no place, and where it would be code', () => {
    expect(editorLink('', '/src/a.go', 7)).toBeUndefined()
    expect(editorLink('vscode://file{file}', 'a.go', 7)).toBeUndefined()
    for (const bad of ['javascript://%0aalert(1)', 'data://text/html,{file}', 'nonsense']) expect(editorLink(bad, '/src/a.go', 7)).toBeUndefined()
  })
})
