// Holds what gowhy writes for other viewers to what these viewers read: files for
// speedscope to its schema, and then they are opened in speedscope itself.
//
//   node e2e/exports.mjs [FILE.speedscope.json…]
//
// Without files it takes the golden files of internal/draw/export, names with terminal
// escapes among them. (Files for Perfetto are read back by that package's own test.)
import { createServer } from 'node:http'
import { readFile, readdir } from 'node:fs/promises'
import { basename, extname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import Ajv from 'ajv'
import { chromium } from 'playwright-core'

const ui = fileURLToPath(new URL('..', import.meta.url))
const release = join(ui, 'node_modules/speedscope/dist/release')
const testdata = join(ui, '../internal/draw/export/testdata')

async function goldens() {
  const names = (await readdir(testdata)).filter((n) => /^speedscope.*\.json$/.test(n)).sort()
  if (names.length === 0) throw new Error(`no file for speedscope in ${testdata}`)
  return names.map((n) => join(testdata, n))
}

// The schema is of draft 7 and says so with an address that ajv knows.
async function validator() {
  const schema = JSON.parse(await readFile(join(release, 'file-format-schema.json'), 'utf8'))
  return new Ajv({ strict: false, allErrors: true }).compile(schema)
}

// What the schema cannot say: numbers of frames, counts that match, order.
function faults(file) {
  const out = []
  const frames = file.shared.frames.length
  for (const p of file.profiles) {
    const used = p.type === 'sampled' ? p.samples.flat() : p.events.map((e) => e.frame)
    if (used.some((i) => i < 0 || i >= frames)) out.push(`${p.name}: a frame that is not there`)
    if (p.type === 'sampled' && p.samples.length !== p.weights.length) out.push(`${p.name}: samples without weights`)
    if (p.type === 'evented' && p.events.some((e, i) => i > 0 && e.at < p.events[i - 1].at)) out.push(`${p.name}: events out of order`)
  }
  return out
}

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm' }

// serve offers speedscope's own page and the files beside it, to this machine.
function serve(files) {
  const server = createServer(async (request, response) => {
    try {
      const path = decodeURIComponent(new URL(request.url, 'http://x').pathname)
      const asked = /^\/file\/(\d+)$/.exec(path)
      const name = asked ? files[Number(asked[1])] : resolve(release, '.' + (path === '/' ? '/index.html' : path))
      if (!name || (!asked && !name.startsWith(release + sep))) throw new Error('no such file')
      response.writeHead(200, { 'content-type': types[extname(name)] ?? 'application/octet-stream' })
      response.end(await readFile(name))
    } catch {
      response.writeHead(404).end()
    }
  })
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)))
}

// open shows a file in speedscope and returns what went wrong there.
async function open(browser, address, index, file) {
  const page = await browser.newPage()
  const wrong = []
  page.on('pageerror', (e) => wrong.push(String(e)))
  page.on('dialog', (d) => {
    wrong.push(d.message())
    void d.dismiss()
  })
  await page.goto(`${address}/#profileURL=${encodeURIComponent(`${address}/file/${index}`)}`)
  const name = file.name
  try {
    await page.waitForFunction((n) => document.title.includes(n), name, { timeout: 15_000 })
    const text = await page.evaluate(() => document.body.innerText)
    const first = file.profiles[file.activeProfileIndex ?? 0].name
    if (!text.includes(first)) wrong.push(`the name ${JSON.stringify(first)} is not shown: ${text.slice(0, 200)}`)
  } catch (e) {
    const text = await page.evaluate(() => document.body.innerText)
    wrong.push(`it was not opened: ${text.slice(0, 200)}`)
  }
  await page.close()
  return wrong
}

const files = process.argv.length > 2 ? process.argv.slice(2).map((f) => resolve(f)) : await goldens()
const valid = await validator()
const server = await serve(files)
const browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-background-networking'] })
let failed = false
try {
  for (const [i, path] of files.entries()) {
    const file = JSON.parse(await readFile(path, 'utf8'))
    const wrong = valid(file) ? faults(file) : valid.errors.map((e) => `${e.instancePath} ${e.message}`)
    if (wrong.length === 0) wrong.push(...(await open(browser, `http://127.0.0.1:${server.address().port}`, i, file)))
    for (const w of wrong.slice(0, 10)) console.error(`${basename(path)}: ${w}`)
    if (wrong.length === 0) console.log(`${basename(path)}: ${file.profiles.length} profiles, as the schema wants, opened by speedscope`)
    failed ||= wrong.length > 0
  }
} finally {
  await browser.close()
  server.close()
}
process.exit(failed ? 1 : 0)
