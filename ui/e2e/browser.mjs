// A browser that is watched: what it asks for, what it complains of, what the
// policy held off. Debian's Chromium, without a screen and without its own calls.
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'
import { must, until } from './harness.mjs'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export async function launch() {
  const executablePath = process.env.CHROMIUM || execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim()
  return chromium.launch({
    executablePath,
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
  })
}

/** Starts gowhy view and returns its address; stop ends it. */
export function view(gowhy, files, cwd) {
  return serve(gowhy, ['view', '--no-open', ...files], cwd)
}

/** Starts a command that serves the page and says where. Its input ends with this process. */
export async function serve(command, args, cwd, address = /http:\/\/127\.0\.0\.1:\d+\/t\/\w+\//, patience = 30_000) {
  const server = spawn(command, args, { cwd, stdio: 'pipe' })
  let said = ''
  server.stdout.on('data', (b) => (said += b))
  server.stderr.on('data', (b) => (said += b))
  let ended = false
  server.on('exit', () => (ended = true))
  const stop = () => {
    if (!ended) server.kill('SIGINT')
  }
  process.once('exit', stop)
  const url = await until('the address of the page', () => {
    must(!ended, `${command} ended: ${said}`)
    return said.match(address)?.[0]
  }, patience)
  return { url, stop, pid: server.pid, said: () => said }
}

// What each page has asked for and not yet got, and when that changed last. The
// browser tools' "networkidle" is of the first load only.
const asking = new WeakMap()

function followRequests(page) {
  const state = { open: new Set(), changed: Date.now() }
  asking.set(page, state)
  const begin = (r) => {
    state.open.add(r)
    state.changed = Date.now()
  }
  const end = (r) => {
    state.open.delete(r)
    state.changed = Date.now()
  }
  page.on('request', begin)
  page.on('requestfinished', end)
  page.on('requestfailed', end)
}

/** How long a page asks nothing until it is taken to have what it wants, ms. */
const QUIET = 200

/** A page whose faults are collected. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce', locale: 'en-US', ...options })
  const faults = []
  const origin = new URL(url).origin
  const own = (to) => /^(data|blob):/.test(to) || (origin === 'null' ? to.split('#')[0] === url.split('#')[0] : to.startsWith(origin + '/'))
  await context.addInitScript(() => {
    window.violations = []
    document.addEventListener('securitypolicyviolation', (e) => window.violations.push(`${e.violatedDirective}: ${e.blockedURI} ${e.sample}`))
  })
  const page = await context.newPage()
  followRequests(page)
  context.on('request', (r) => {
    if (!own(r.url())) faults.push(`asked for ${r.url()}`)
  })
  page.on('console', (m) => {
    if (m.type() !== 'error' && m.type() !== 'warning') return
    if (m.text().includes('willReadFrequently')) return // it is this test that reads the pictures
    if (/^Failed to load resource: .* status of \d+/.test(m.text())) return // told below, with what was asked
    faults.push(`console: ${m.text()}`)
  })
  page.on('response', async (r) => {
    if (r.status() >= 400) faults.push(`${r.status()} ${r.url()}: ${await r.text().catch(() => '')}`)
  })
  page.on('pageerror', (e) => faults.push(`uncaught: ${e.stack ?? e.message}`))
  page.on('crash', () => faults.push('the page crashed'))
  await page.goto(url)
  await settled(page)
  return { page, context, faults, base: url.split('#')[0], close: () => context.close() }
}

/** Fails when anything went wrong on the page since it was last asked. */
export async function faultless(p) {
  const violations = await p.page.evaluate(() => window.violations.splice(0))
  const owned = await p.page.evaluate(() => 'owned' in window)
  must(!owned, 'a name of the recording ran as code')
  const all = [...p.faults.splice(0), ...violations.map((v) => `policy: ${v}`)]
  must(all.length === 0, () => [...new Set(all)].join('\n'))
}

/** Goes to a place of the page, as a link would. */
export async function visit(p, place) {
  await p.page.evaluate((to) => (location.hash = to), '#/' + place)
  await settled(p.page)
}

/** Waits until the page has what it asked for and shows it. */
export async function settled(page, quiet = QUIET) {
  await page.waitForFunction(() => document.querySelector('main') && !document.querySelector('.spinner, main .state[role=status]'), null, { timeout: 60_000 })
  const state = asking.get(page)
  await until('the page to have what it asks for', () => {
    const polls = [...state.open].every((r) => /\/api\/(session|live)(\?|$)/.test(r.url()))
    return polls && Date.now() - state.changed > quiet
  }, 30_000)
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))))
}

/** What axe finds, in words. */
export async function axeFinds(page) {
  // Evaluated by the browser's own tools: the page's policy lets no such script in.
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations'] }))
  return violations.map((v) => `${v.id}: ${v.help}\n  ${v.nodes.slice(0, 4).map((n) => `${n.target.join(' ')} — ${n.failureSummary?.split('\n')[1]?.trim() ?? ''}`).join('\n  ')}`)
}

/** Fails unless the screen shows something: a picture, a table or words, and no failure. */
export async function shows(page, what) {
  const state = await page.evaluate(() => {
    const main = document.querySelector('main')
    const drawn = [...main.querySelectorAll('canvas')].some((c) => {
      if (c.width === 0 || c.height === 0) return false
      const pixels = c.getContext('2d').getImageData(0, 0, c.width, Math.min(c.height, 400)).data
      const first = pixels.slice(0, 4).join()
      for (let i = 0; i < pixels.length; i += 4 * 7) if (pixels.slice(i, i + 4).join() !== first) return true
      return false
    })
    return {
      failed: main.querySelector('.state-failed')?.textContent ?? '',
      empty: main.querySelector(':scope > .state-empty')?.textContent ?? '',
      content: drawn || main.querySelectorAll('[role=row], tr, .card').length > 1 || main.querySelector('.number-value') !== null,
    }
  })
  must(state.failed === '', `${what} failed: ${state.failed}`)
  must(state.empty === '', `${what} is empty: ${state.empty}`)
  must(state.content, `${what} shows nothing`)
}
