// Puts speedscope's own viewer where Go embeds it: the files of the version that
// package-lock.json names, as they are, with their licences. Its example, its
// schema and what reads Java's recordings stay behind: gowhy shows it files of its own.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ui = join(dirname(fileURLToPath(import.meta.url)), '..')
const from = join(ui, 'node_modules', 'speedscope')
export const viewer = join(ui, '..', 'internal', 'show', 'web', 'speedscope')

const wanted = /^(index\.html|release\.txt|source-code-pro\.LICENSE\.md|speedscope-\w+\.(js|css)|SourceCodePro-[\w.-]+\.woff2|favicon-[\w-]+\.(png|ico))$/

/** The files of the viewer by name, as their package has them. */
export function speedscope() {
  const release = join(from, 'dist', 'release')
  const files = new Map([['LICENSE', readFileSync(join(from, 'LICENSE'))]])
  for (const name of readdirSync(release).filter((n) => wanted.test(n)).sort()) files.set(name, readFileSync(join(release, name)))
  // What its page names must be there: another version may be made of other parts.
  const page = files.get('index.html')?.toString() ?? ''
  const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((m) => m[1])
  for (const name of ['index.html', 'source-code-pro.LICENSE.md', ...named]) {
    if (!files.has(name)) throw new Error(`speedscope has no ${name}: is it made of other parts now?`)
  }
  return files
}

/** Writes them; those that are as they were are not touched. */
export function publishSpeedscope() {
  const files = speedscope()
  mkdirSync(viewer, { recursive: true })
  for (const [name, bytes] of files) {
    const to = join(viewer, name)
    if (!existsSync(to) || !readFileSync(to).equals(bytes)) writeFileSync(to, bytes)
  }
  for (const name of readdirSync(viewer)) if (!files.has(name)) rmSync(join(viewer, name), { recursive: true })
}
