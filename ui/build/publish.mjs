// Puts the built page where Go embeds it. Builds go to .build first, so that one
// that fails leaves the page that was there; what is no part of the page any more
// is removed. Files that are as they were are not touched: Go then has nothing to
// build again.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publishSpeedscope } from './speedscope.mjs'

const ui = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(ui, '..', 'internal', 'web', 'dist')

const built = new Map()
gather(join(ui, '.build', 'page'), '')
gather(join(ui, '.build', 'report'), 'report/')
for (const needed of ['index.html', 'app.js', 'report/index.html', 'report/app.js']) {
  if (!built.has(needed)) throw new Error(`nothing was published: ${needed} was not built`)
}

built.set('licenses.txt', Buffer.from(notices()))

mkdirSync(join(dist, 'report'), { recursive: true })
for (const [name, bytes] of built) {
  const to = join(dist, name)
  if (!existsSync(to) || !readFileSync(to).equals(bytes)) writeFileSync(to, bytes)
}
for (const e of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const name = join(e.parentPath, e.name).slice(dist.length + 1).replaceAll('\\', '/')
  if (e.isFile() && !built.has(name)) rmSync(join(dist, name))
}

publishSpeedscope()

// gather reads the files of a build. They are flat: a folder would be a surprise.
function gather(folder, prefix) {
  for (const name of readdirSync(folder)) built.set(prefix + name, readFileSync(join(folder, name)))
}

// notices are the licences of the packages that are built into the page, which ask
// to go where their code goes.
function notices() {
  const { dependencies } = JSON.parse(readFileSync(join(ui, 'package.json'), 'utf8'))
  return Object.entries(dependencies)
    .map(([name, version]) => `${name} ${version}\n\n${readFileSync(join(ui, 'node_modules', name, 'LICENSE'), 'utf8').trim()}\n`)
    .join('\n')
}
