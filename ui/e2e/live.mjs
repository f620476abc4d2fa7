// A program while it runs: its charts fill, its finding comes, the picture stands when
// it is told to, a window becomes a recording, and a connection that is lost is told
// of and made again. All of it with a program of the lab and the real command.
//
//   node e2e/live.mjs           by itself; GOWHY=… to try a binary, SHOTS=… keeps pictures
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { axeFinds, faultless, launch, open, serve, settled, shows, visit } from './browser.mjs'
import { check, each, equal, must, summary, until } from './harness.mjs'
import { command, repository } from './recordings.mjs'

const run = promisify(execFile)

/** Starts a program of the lab that is ill for some minutes, or in turns. */
export async function illProgram(dir, args = ['-habit', 'log', '-time', '10m']) {
  const program = join(dir, 'habits')
  if (!existsSync(program)) await run('go', ['build', '-o', program, './habits'], { cwd: join(repository, 'lab') })
  const p = spawn(program, args, { stdio: 'ignore' })
  const stop = () => p.exitCode === null && p.kill('SIGKILL')
  process.once('exit', stop)
  return { pid: p.pid, stop }
}

/** A way to a server that can be cut; what offline in a browser's tools leaves alone is a stream that runs. */
async function wayTo(url) {
  const { port } = new URL(url)
  const ends = new Set()
  let open = true
  const way = createServer((near) => {
    if (!open) return near.destroy()
    const far = connect(Number(port), '127.0.0.1')
    for (const [from, to] of [[near, far], [far, near]]) {
      ends.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        ends.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise((r) => way.listen(0, '127.0.0.1', r))
  return {
    url: url.replace(`:${port}/`, `:${way.address().port}/`),
    cut() {
      open = false
      for (const s of ends) s.destroy()
    },
    mend: () => (open = true),
    close() {
      this.cut()
      way.close()
    },
  }
}

/** Looks at it in a browser; shot is told each page that is worth a picture. */
export async function watchesAProgram(browser, gowhy, dir, shot) {
  let program, server, way, p
  try {
    const begun = await check('live: a program is watched', async () => {
      program = await illProgram(dir)
      server = await serve(gowhy, ['view', '--live', '--no-open', String(program.pid)], dir)
      way = await wayTo(server.url)
      p = await open(browser, way.url, { viewport: { width: 1440, height: 900 } })
    })
    if (!begun) return
    await check('live: the charts fill', () => fills(p, shot))
    await check('live: the finding comes, and a flame graph', () => finds(p, shot))
    await check('live: it fits, in both themes, and axe finds nothing', () => fits(browser, server.url, shot))
    await check('live: the picture stands and goes on', () => stands(p))
    await check('live: a window is kept and is a run', () => keeps(p, dir, shot))
    await check('live: a lost connection is told of and made again', () => loses(p, way, shot))
    await check('live: the end of the program is told', async () => {
      program.stop()
      await p.page.locator('.live-heard-ended').waitFor()
      await shot(p.page, 'live-ended')
      await faultless(p)
    })
    await p.close()
  } finally {
    way?.close()
    server?.stop()
    program?.stop()
  }
}

const hashOf = (page) => page.evaluate(() => location.hash)
const paramsOf = async (page) => Object.fromEntries(new URLSearchParams((await hashOf(page)).split('?')[1]))
const heard = (page) => page.locator('.live-hero .live-heard').innerText()
/** The words of when the picture begins and ends. */
const rangeOf = (page) => page.locator('.live-range').innerText()
/** How many moments the table behind the chart of the CPU has. */
const momentsOf = async (page) => Number(await page.locator('#chart-cpu .table-box').getAttribute('aria-rowcount')) - 1

async function fills(p, shot) {
  const { page } = p
  await page.locator('.live-hero').waitFor()
  await until('the address of the screen', async () => (await hashOf(page)) === '#/live')
  must((await page.locator('#live-name').innerText()).includes('habits'), 'the name of the program')
  equal((await page.$$eval('.head-nav a', (as) => as.map((a) => a.getAttribute('href')))).join(), '#/live', 'the tabs without a recording')
  equal(await heard(page), 'live', 'the connection')
  await page.locator('#chart-cpu .chart-head button').click()
  await until('five moments', async () => (await page.locator('#chart-cpu .table-box').count()) > 0 && (await momentsOf(page)) >= 5)
  const before = await momentsOf(page)
  await until('more moments', async () => (await momentsOf(page)) > before)
  await page.locator('#chart-cpu .chart-head button').click()
  await shows(page, 'the live screen')
  await shot(page, 'live')
  await faultless(p)
}

async function finds(p, shot) {
  const { page } = p
  await page.locator('.live-finding-wrong').first().waitFor({ timeout: 300_000 })
  must((await page.locator('.live-finding-wrong .live-when').first().innerText()).match(/^since \d\d:\d\d:\d\d$/), 'since when it is there')
  must(await page.locator('.live-list').first().innerText() !== '', 'the words of the finding')
  const graph = page.locator('.live-flame .flame-canvas')
  const denied = page.locator('.live-flame .command')
  await until('the flame graph, or why there is none', async () => (await graph.count()) + (await denied.count()) > 0, 300_000)
  await shot(page, 'live-found')
  await faultless(p)
}

async function fits(browser, url, shot) {
  await each([[1440, 900], [1024, 768], [390, 844]].flatMap(([width, height]) => ['light', 'dark'].map((colorScheme) => ({ width, height, colorScheme }))), async (o) => {
    const q = await open(browser, url + '#/live', { viewport: { width: o.width, height: o.height }, colorScheme: o.colorScheme })
    await q.page.locator('.live-charts canvas').first().waitFor()
    await settled(q.page)
    await q.page.screenshot({ fullPage: true, path: shot.path?.(`live-${o.width}-${o.colorScheme}`) })
    const wide = await q.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    must(wide <= 1, `it is ${wide} px wider than ${o.width}`)
    const found = await axeFinds(q.page)
    must(found.length === 0, () => `axe at ${o.width}, ${o.colorScheme}:\n${found.join('\n')}`)
    await faultless(q)
    await q.close()
  })
}

async function stands(p) {
  const { page } = p
  const moving = await rangeOf(page)
  await until('the window to move', async () => (await rangeOf(page)) !== moving)
  await page.evaluate(() => document.activeElement?.blur())
  await page.keyboard.press(' ')
  await until('the words of the pause', async () => (await heard(page)) === 'paused')
  const standing = await rangeOf(page)
  await until('how far it is behind', async () => /^([2-9]|\d\d+|\d\.\d\d|\d\d+\.\d) s behind, go on$/.test(await page.locator('.live-pause').innerText()))
  equal(await rangeOf(page), standing, 'the window that stands')
  await page.keyboard.press(' ')
  await until('it to go on', async () => (await heard(page)) === 'live' && (await rangeOf(page)) !== standing)
  await page.keyboard.press(']')
  await until('the longer window', async () => (await paramsOf(page)).span === '300')
  await page.keyboard.press('[')
  await until('the shorter window', async () => (await paramsOf(page)).span === undefined)
  await faultless(p)
}

async function keeps(p, dir, shot) {
  const { page } = p
  const box = await page.locator('#chart-cpu .u-over').boundingBox()
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * 0.55, y)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.75, y, { steps: 4 })
  await page.mouse.move(box.x + box.width * 0.95, y, { steps: 4 })
  await page.mouse.up()
  let chosen
  await until('the window in the address', async () => (chosen = await paramsOf(page)).from !== undefined)
  const width = Number(chosen.to) - Number(chosen.from)
  must(width > 20_000 && width < 28_000, `four tenths of a minute were chosen, and the window is ${width} ms`)
  equal(await heard(page), 'paused', 'the connection')
  const range = await rangeOf(page)
  await page.waitForTimeout(2500)
  equal(await rangeOf(page), range, 'the chosen window')
  await shot(page, 'live-window')
  await page.getByRole('button', { name: 'Keep as a recording' }).click()
  await page.locator('.live-kept a').first().waitFor({ timeout: 120_000 })
  const path = await page.locator('.live-kept code').innerText()
  must(path.startsWith(dir) && existsSync(path), `no recording at ${path}`)
  await until('the tabs of the recording', async () => (await page.locator('.head-nav a').count()) > 3)
  equal((await paramsOf(page)).from, chosen.from, 'the window after keeping it')
  await shot(page, 'live-kept')
  await page.locator('.live-kept a', { hasText: 'Findings' }).click()
  await page.locator('.verdict').waitFor({ timeout: 120_000 })
  await settled(page)
  await shot(page, 'live-recording')
  await page.locator('.head-nav a[href^="#/live"]').click()
  await page.locator('.live-hero').waitFor()
  await visit(p, 'live')
  await faultless(p)
}

async function loses(p, way, shot) {
  const { page } = p
  await until('the connection', async () => (await heard(page)) === 'live')
  const name = await page.locator('#live-name').innerText()
  way.cut()
  await until('the words', async () => /^!?\s*connection lost at \d\d:\d\d:\d\d, trying again$/.test(await heard(page)))
  equal(await page.locator('#live-name').innerText(), name, 'what the page had')
  must((await page.locator('.live-charts canvas').count()) > 4, 'the charts are gone')
  await until('it to be said', async () => (await page.locator('[aria-live=polite].sr').allInnerTexts()).join().includes('Connection lost'))
  await shot(page, 'live-lost')
  await page.waitForTimeout(3000)
  way.mend()
  await until('the connection again', async () => (await heard(page)) === 'live')
  p.faults.splice(0, p.faults.length, ...p.faults.filter((f) => !/Failed to load resource: net::ERR_/.test(f)))
  await faultless(p)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dir = mkdtempSync(join(tmpdir(), 'gowhy-live-'))
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
  const shots = process.env.SHOTS
  if (shots) mkdirSync(shots, { recursive: true })
  const path = (name) => (shots ? join(shots, name + '.png') : undefined)
  const shot = Object.assign((page, name) => page.screenshot({ path: path(name) }), { path })
  const browser = await launch()
  await watchesAProgram(browser, await command(dir), dir, shot)
  await browser.close()
  process.exitCode = summary()
}
