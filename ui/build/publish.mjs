// Puts the built pages where Go embeds them. Builds go to .build first, so that one
// that fails leaves the page that was there; what is no part of the page any more
// is removed. Files that are as they were are not touched: Go then has nothing to
// build again.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ui = join(dirname(fileURLToPath(import.meta.url)), '..')
const licenses = ['licenses.txt', Buffer.from(notices())]

publish(join(ui, '..', 'internal', 'show', 'web', 'dist'), [...gather('page'), ...gather('report', 'report/')], ['index.html', 'app.js', 'report/index.html', 'report/app.js'])
publish(join(ui, '..', 'fleet', 'page', 'dist'), gather('fleet').map(([name, bytes]) => [name === 'fleet.html' ? 'index.html' : name, bytes]), ['index.html', 'app.js'])

// publish makes a folder have the files of a build and the licences, and no others.
function publish(dist, files, needed) {
  const built = new Map([...files, licenses])
  for (const name of needed) {
    if (!built.has(name)) throw new Error(`nothing was published: ${name} was not built`)
  }
  for (const [name, bytes] of built) {
    const to = join(dist, name)
    mkdirSync(dirname(to), { recursive: true })
    if (!existsSync(to) || !readFileSync(to).equals(bytes)) writeFileSync(to, bytes)
  }
  for (const e of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const name = join(e.parentPath, e.name).slice(dist.length + 1).replaceAll('\\', '/')
    if (e.isFile() && !built.has(name)) rmSync(join(dist, name))
  }
}

// gather reads the files of a build. They are flat: a folder would be a surprise.
function gather(build, prefix = '') {
  const folder = join(ui, '.build', build)
  return readdirSync(folder).map((name) => [prefix + name, readFileSync(join(folder, name))])
}

// notices are the licences of the packages that are built into the page, which ask
// to go where their code goes.
function notices() {
  const { dependencies } = JSON.parse(readFileSync(join(ui, 'package.json'), 'utf8'))
  return Object.entries(dependencies)
    .map(([name, version]) => `${name} ${version}\n\n${readFileSync(join(ui, 'node_modules', name, 'LICENSE'), 'utf8').trim()}\n`)
    .join('\n')
}
