// The measures: first picture, the hand on the timeline, tiles, the flame graph,
// and the same beside go tool trace.
//
// Times of two processes, this one and the page, have to be told on one clock.
// Both count from their own start and neither is set while it runs, so a few
// short questions tell how far they are apart: the shortest is taken, whose
// answer came in the middle of it to within half of its length.
import { random } from './inputs.mjs'
import { watchMemory, cpuOf, watched } from './machine.mjs'
import { Asker, sleep, tool, until, view } from './processes.mjs'

/** What the page is shown in. */
const VIEWPORT = { width: 1280, height: 860 }
/** A picture is whole when nothing was drawn for so long. */
const QUIET_MS = 300
const PATIENCE_MS = 120_000

// listen runs in the page before its own script. It takes down what the page
// itself tells about its drawing, and when the first tiles with something in them
// came: what was drawn before them is an empty picture.
function listen() {
  const b = (window.bench = { draws: [], flame: [], tilesCame: 0, frames: [] })
  new PerformanceObserver((list) => {
    for (const e of list.getEntries()) {
      if (e.name === 'timeline-draw') b.draws.push([e.startTime, e.duration])
      if (e.name === 'flame-drawn') b.flame.push([e.startTime, e.duration])
    }
  }).observe({ type: 'measure', buffered: true })
  const read = Response.prototype.arrayBuffer
  Response.prototype.arrayBuffer = async function () {
    const buffer = await read.call(this)
    if (b.tilesCame === 0 && this.url.includes('/api/timeline/tiles')) {
      const length = new DataView(buffer).getUint32(0, true)
      const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)))
      if (head.lanes?.some((l) => !l.empty && !l.pending)) b.tilesCame = performance.now()
    }
    return buffer
  }
  const frame = (t) => {
    if (b.frames.length < 100_000) b.frames.push(t)
    requestAnimationFrame(frame)
  }
  // Only while it is asked for: frames without end keep a page from resting.
  b.watchFrames = () => requestAnimationFrame(frame)
}

async function newPage(browser) {
  const context = await browser.newContext({ viewport: VIEWPORT, locale: 'en-US', reducedMotion: 'reduce' })
  await context.addInitScript(listen)
  const page = await context.newPage()
  return page
}

// clock is what has to be added to the page's time to have ours.
async function clock(page) {
  let best = { wide: Infinity, ahead: 0 }
  for (let i = 0; i < 15; i++) {
    const before = performance.now()
    const there = await page.evaluate(() => performance.now())
    const after = performance.now()
    if (after - before < best.wide) best = { wide: after - before, ahead: (before + after) / 2 - there }
  }
  return best
}

// firstPicture goes to the timeline and tells when, since the command was
// started, there was a picture and when the whole of it, ms.
async function firstPicture(page, server) {
  await page.goto(server.url + '#/timeline?r=0', { waitUntil: 'commit' })
  const drawn = await page.waitForFunction(() => {
    const b = window.bench
    const d = b.tilesCame > 0 && b.draws.find(([start]) => start >= b.tilesCame)
    return d ? d[0] + d[1] : 0
  }, null, { timeout: PATIENCE_MS }).catch(async (e) => {
    const text = await page.evaluate(() => document.body.innerText.slice(0, 400)).catch(() => '')
    throw new Error(`the timeline was not drawn (${e.message.split('\n')[0]}); the page says: ${text}; gowhy said: ${server.said.trim()}`)
  })
  const first = await drawn.jsonValue()
  const cpu = cpuOf(server.pid)
  await quiet(page)
  const last = await page.evaluate(() => window.bench.draws.at(-1).reduce((a, b) => a + b))
  const { ahead, wide } = await clock(page)
  const since = (t) => t + ahead - server.began
  return { first_picture_ms: since(first), whole_picture_ms: since(last), clock_ms: wide / 2, cpu_s: cpu }
}

async function quiet(page, ms = QUIET_MS) {
  await page.waitForFunction((still) => {
    const last = window.bench.draws.at(-1)
    return last && performance.now() - last[0] > still
  }, ms, { timeout: 20_000, polling: 50 }).catch(() => {}) // a picture that never rests is measured as it is
}

/** How long keys are held, ms; the window is halved about every 66 ms. */
const SHORT = { in: 1500, pan: 600 }
const LONG = { in: 3000, pan: 800 }

// tour is what somebody does who looks around: in, sideways and out with the keys,
// a group is opened, the same again deeper, and a window is selected.
async function tour(page, server, memory) {
  const asked = { lanes: [], url: '' }
  page.on('request', (r) => {
    const lanes = new URL(r.url()).searchParams.get('lanes')?.split(',') ?? []
    if (r.url().includes('/api/timeline/tiles') && lanes.length > asked.lanes.length) asked.lanes = lanes
  })
  const box = await page.locator('.tl-overlay').boundingBox()
  const y = box.y + Math.min(80, box.height / 3)
  const pick = random(42)
  const held = async (key, ms) => {
    await page.keyboard.down(key)
    await sleep(ms)
    await page.keyboard.up(key)
  }
  const about = async (how) => {
    await page.mouse.move(box.x + box.width * (0.2 + pick(60) / 100), y)
    await held('w', how.in)
    await held('d', how.pan)
    await held('a', how.pan)
    await held('s', how.in)
    await quiet(page)
  }
  await page.evaluate(() => {
    window.bench.draws = []
    window.bench.watchFrames()
  })
  await about(SHORT)
  memory.mark('moving')
  await openLargest(page, server)
  await about(LONG)
  memory.mark('moving, a group open')
  const { draws, frames } = await page.evaluate(() => ({ draws: window.bench.draws.map((d) => d[1]), frames: window.bench.frames }))
  await page.keyboard.press('m')
  await page.locator('.tl-selection .tl-tables:not(.tl-faint)').waitFor({ timeout: PATIENCE_MS })
  await page.keyboard.press('Escape')
  await quiet(page)
  memory.mark('selecting all')
  const gaps = frames.slice(1).map((t, i) => t - frames[i])
  return { draw_ms: summary(draws), frame_gap_ms: summary(gaps), lanes: asked.lanes }
}

// openLargest opens the group of the most goroutines.
async function openLargest(page, server) {
  const ask = new Asker()
  const { lanes } = await ask.json(server.url + 'api/timeline/lanes?r=0&parent=groups&offset=0&limit=200')
  ask.close()
  const most = lanes.filter((l) => l.children > 0).sort((a, b) => b.children - a.children)
  for (const lane of most) {
    const name = page.locator(`.tl-name[data-lane=${JSON.stringify(lane.id)}]`)
    if ((await name.count()) === 0) continue // further down than is shown
    if ((await name.getAttribute('aria-expanded')) === 'false') {
      await page.locator('li', { has: name }).locator('.tl-open').click()
      await page.waitForFunction((id) => document.querySelector(`.tl-name[data-lane="${CSS.escape(id)}"]`)?.getAttribute('aria-expanded') === 'true', lane.id)
    }
    await quiet(page)
    return
  }
  throw new Error('the timeline has no group in sight that can be opened')
}

/** One server and one page: the first picture, the hand, and memory through all of it. */
export async function look(launch, gowhy, trace) {
  const browser = await launch()
  try {
    const page = await newPage(browser)
    await page.goto('about:blank')
    return await watched(`${trace.name}, the page`, async () => {
      const server = await view(gowhy, trace.path)
      const memory = watchMemory(server.pid)
      try {
        const first = await firstPicture(page, server)
        memory.mark('loading')
        const moved = await tour(page, server, memory)
        return { ...first, ...moved, memory: memory.stop() }
      } finally {
        memory.stop()
        await server.stop()
      }
    })
  } finally {
    await browser.close()
  }
}

/** Windows whose tiles are asked for, and how wide a picture is, in CSS pixels. */
const WINDOWS = 60
const PICTURE = 1080

/**
 * Tiles asked of a fresh server, one after another, as the page asks: for windows
 * of any length at any place, those that cover it, for the lanes that it shows.
 * Cold is a tile that was never asked for; when it says that pieces of the trace
 * are being read it is asked for until it is whole. Warm is the same once more.
 */
export async function tiles(gowhy, trace, lanes) {
  return watched(`${trace.name}, tiles`, async () => {
    const server = await view(gowhy, trace.path)
    const ask = new Asker()
    try {
      await until('the trace to be read', server, async () => {
        const s = await ask.json(server.url + 'api/session')
        return s.loading === '' && s.runs.length > 0 && s.runs.every((r) => !r.loading)
      }, PATIENCE_MS)
      return await askTiles(ask, server, await ask.json(server.url + 'api/timeline?r=0'), lanes)
    } finally {
      ask.close()
      await server.stop()
    }
  })
}

async function askTiles(ask, server, timeline, lanes) {
  const { duration_ns: duration, min_level: min, max_level: max } = timeline
  const pick = random(7)
  const cold = [], warm = [], whole = []
  let pending = 0, bytes = 0
  for (let i = 0; i < WINDOWS; i++) {
    const level = min + pick(max - min + 1)
    const wide = Math.min(duration, PICTURE * 2 ** level)
    const from = (pick(1e6) / 1e6) * (duration - wide)
    const tile = 256 * 2 ** level
    for (let k = Math.floor(from / tile); k * tile < from + wide; k++) {
      const url = `${server.url}api/timeline/tiles?${new URLSearchParams({ r: 0, level, tile: k, lanes: lanes.join(',') })}`
      let a = await tileOf(ask, url)
      cold.push(a.ms)
      bytes += a.bytes
      if (a.pending) pending++
      const began = performance.now() - a.ms
      while (a.pending) {
        if (performance.now() - began > PATIENCE_MS) throw new Error(`${url} is still being read`)
        await sleep(20)
        a = await tileOf(ask, url)
      }
      whole.push(performance.now() - began)
      warm.push((await tileOf(ask, url)).ms)
    }
  }
  return {
    cold_ms: summary(cold), warm_ms: summary(warm), whole_ms: summary(whole),
    pending, lanes: lanes.length, levels: [min, max], bytes: Math.round(bytes / cold.length),
  }
}

async function tileOf(ask, url) {
  const a = await ask.get(url)
  if (a.status !== 200) throw new Error(`${a.status} for ${url}: ${a.body.toString('utf8').slice(0, 300)}`)
  const head = JSON.parse(a.body.subarray(4, 4 + a.body.readUInt32LE(0)).toString('utf8'))
  return { ms: a.ms, bytes: a.bytes, pending: head.lanes.some((l) => l.pending) }
}

/** The flame graph of a profile: how large it is, from its data to the picture, and from the way there. */
export async function flame(launch, gowhy, profile, rounds) {
  const browser = await launch()
  const server = await view(gowhy, profile)
  try {
    const runs = []
    for (let round = 0; round < rounds; round++) {
      runs.push(await watched('the flame graph', async () => {
        const page = await newPage(browser)
        const answer = page.waitForResponse((r) => r.url().includes('/api/flame'), { timeout: PATIENCE_MS })
        answer.catch(() => {}) // what went wrong is told below
        await page.goto(server.url + '#/flame?r=0', { waitUntil: 'commit' })
        const drawn = await page.waitForFunction(() => window.bench.flame[0], null, { timeout: PATIENCE_MS })
        const [start, took] = await drawn.jsonValue()
        const nodes = (await (await answer).json()).parent.length
        await page.context().close()
        return { round, nodes, drawn_ms: took, opened_ms: start + took }
      }))
    }
    return runs
  } finally {
    await server.stop()
    await browser.close()
  }
}

/** gowhy on the file of the comparison: as somebody opens it, and no more. */
export async function opened(launch, gowhy, trace) {
  const browser = await launch()
  try {
    const page = await newPage(browser)
    await page.goto('about:blank')
    return await watched(`${trace.name}, gowhy view`, async () => {
      const server = await view(gowhy, trace.path)
      const memory = watchMemory(server.pid)
      try {
        const first = await firstPicture(page, server)
        return { ...first, memory: memory.stop() }
      } finally {
        memory.stop()
        await server.stop()
      }
    })
  } finally {
    await browser.close()
  }
}

/**
 * go tool trace on the same file: when its main page is answered, and when the
 * first part of its trace view is. Nothing is drawn, which is to its advantage.
 */
export async function peer(binary, trace) {
  return watched(`${trace.name}, go tool trace`, async () => {
    const p = await tool(binary, trace.path)
    const memory = watchMemory(p.pid)
    const ask = new Asker()
    try {
      const main = await until('the main page of go tool trace', p, () => ask.get(p.url).catch(() => undefined), PATIENCE_MS)
      const main_ms = performance.now() - p.began
      const link = pathIn(main.body, /href="(\/trace\b[^"]*)"/, 'the main page')
      const viewer = await ask.get(new URL(link, p.url))
      const data = pathIn(viewer.body, /["'](\/jsontrace\b[^"']*)["']/, link)
      const answer = await ask.get(new URL(data, p.url))
      if (answer.status !== 200) throw new Error(`go tool trace answers ${data} with ${answer.status}`)
      return { main_page_ms: main_ms, first_picture_ms: performance.now() - p.began, json_bytes: answer.bytes, part: data, cpu_s: cpuOf(p.pid), memory: memory.stop() }
    } finally {
      memory.stop()
      ask.close()
      await p.stop()
    }
  })
}

function pathIn(body, pattern, where) {
  const found = body.toString('utf8').match(pattern)
  if (!found) throw new Error(`go tool trace: ${where} leads to nothing like ${pattern}; has it changed?`)
  return found[1].replaceAll('&amp;', '&').replaceAll('\\u0026', '&').replaceAll('\\/', '/')
}

/** Of many figures: how many, the median, the ninetieth and the ninety-ninth of a hundred, the largest. */
export function summary(list) {
  const s = [...list].sort((a, b) => a - b)
  const at = (q) => s[Math.min(s.length - 1, Math.ceil(q * s.length) - 1)] ?? 0
  return { count: s.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: s.at(-1) ?? 0 }
}
