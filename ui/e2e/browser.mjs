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

/** Starts gowhy view and returns its address; stop ends it, and is awaited by who needs it gone. */
export function view(gowhy, files, cwd) {
  return serve(gowhy, ['view', '--no-open', ...files], cwd)
}

/** Starts a command that serves the page and says where. Its input ends with this process. */
export async function serve(command, args, cwd, address = /http:\/\/127\.0\.0\.1:\d+\/t\/\w+\//, patience = 300_000) {
  const server = spawn(command, args, { cwd, stdio: 'pipe' })
  let said = ''
  server.stdout.on('data', (b) => (said += b))
  server.stderr.on('data', (b) => (said += b))
  let ended = false
  const gone = new Promise((r) => server.on('exit', () => {
    ended = true
    process.off('exit', stop)
    r()
  }))
  const stop = () => {
    if (!ended) server.kill('SIGINT')
    return gone
  }
  process.once('exit', stop)
  const url = await until('the address of the page', () => {
    must(!ended, `${command} ended: ${said}`)
    return said.match(address)?.[0]
  }, patience)
  return { url, stop, pid: server.pid, said: () => said }
}

// What each page loads and has not yet got: its code and styles as well, which the page
// itself does not see. The browser tools' "networkidle" is of the first load only.
const loading = new WeakMap()

function followRequests(page) {
  const open = new Set()
  loading.set(page, open)
  page.on('request', (r) => open.add(r))
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (r) => open.delete(r))
}

/** What the page asks without an end, to hear of news. */
const POLLS = /\/api\/(session|live)(\?|$)/

/** A timer of the page that is due so soon is waited for, ms: the longest, 250, ask again or write the address. */
const SOON = 300

// watch runs in each page before its own code. It counts what the page asks and has not
// read, and what it will do in a moment: who rests after a movement, or asks again where
// the server said that more comes, has a timer. Seen from inside no time passes between
// an answer and what follows from it, however busy the machine is.
function watch({ soon, polls }) {
  const walk = (window.walk = { asked: 0, timers: new Set(), changes: 0 })
  const { fetch, setTimeout, clearTimeout } = window
  const follow = (answer) => {
    const done = () => {
      walk.asked--
      walk.changes++
    }
    walk.asked++
    walk.changes++
    answer.then(done, done)
    return answer
  }
  window.fetch = (where, init) => {
    const answer = fetch.call(window, where, init)
    if (new RegExp(polls).test('/' + (where.url ?? where))) return answer
    return follow(answer.then((r) => {
      for (const read of ['text', 'json', 'arrayBuffer']) r[read] = () => follow(Response.prototype[read].call(r))
      return r
    }))
  }
  window.setTimeout = (act, ms = 0, ...given) => {
    const id = setTimeout.call(window, () => {
      walk.timers.delete(id)
      walk.changes++
      act(...given)
    }, ms)
    if (ms <= soon) walk.timers.add(id)
    walk.changes++
    return id
  }
  window.clearTimeout = (id) => {
    walk.timers.delete(id)
    clearTimeout.call(window, id)
  }
}

/** A page whose faults are collected. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce', locale: 'en-US', ...options })
  const faults = []
  const origin = new URL(url).origin
  const own = (to) => /^(data|blob):/.test(to) || (origin === 'null' ? to.split('#')[0] === url.split('#')[0] : to.startsWith(origin + '/'))
  context.setDefaultTimeout(60_000)
  await context.addInitScript(watch, { soon: SOON, polls: POLLS.source })
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
  await settled(page, 0, 600_000) // the recordings are still being read
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

/** How long a page may take to show what it is asked for, ms; much longer than it does on a machine that others use too. */
const PATIENCE = 120_000

/** Waits until the page has what it asked for and shows it, and some milliseconds more. */
export async function settled(page, more = 0, patience = PATIENCE) {
  const end = Date.now() + patience
  const loads = () => [...loading.get(page)].some((r) => !POLLS.test(r.url()))
  do {
    await until('the page to have what it loads', () => !loads(), end - Date.now())
    const left = await page.evaluate(rests, Math.max(0, end - Date.now()))
    must(left === '', `waited ${patience} ms for the page: ${left}`)
  } while (loads())
  if (more > 0) await page.waitForTimeout(more)
}

// rests runs in the page, until it has nothing to wait for for some frames: what follows
// from what was shown, like another question, follows with the next one or two.
async function rests(patience) {
  const FRAMES = 5
  const left = () => {
    const main = document.querySelector('main')
    if (!main) return 'there is none'
    if (document.querySelector('.spinner, main .state[role=status]')) return 'it says that it loads'
    if (main.querySelector('[aria-busy=true]')) return 'it says that it is busy'
    if (window.walk.asked > 0) return 'an answer has not come'
    return window.walk.timers.size > 0 ? 'it will do something' : ''
  }
  const end = performance.now() + patience
  for (let quiet = 0, seen = -1; ; quiet++) {
    const what = left()
    if (what !== '' || window.walk.changes !== seen) quiet = 0
    if (quiet >= FRAMES) return ''
    if (performance.now() > end) return what || 'it does something all the time'
    seen = window.walk.changes
    await new Promise((r) => requestAnimationFrame(r))
  }
}

/**
 * Waits until a place that moves on has come to rest in the address bar. The page takes a
 * movement as ended after 160 ms, and writes it when nobody has moved for another 250; its
 * own clock is asked, which is late when the page is.
 */
export async function written(page) {
  await page.evaluate(async () => {
    for (let at; at !== location.hash;) {
      at = location.hash
      await new Promise((r) => setTimeout(r, 450))
    }
  })
  await settled(page)
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
