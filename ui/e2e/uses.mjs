// What one does on the screens, where being there is not all: following wake-ups
// through a trace, taking a step back, looking into a task, moving the window of
// the utilization. Each is done as a reader does it, and held to what the server
// answers when it is asked directly.
import { readFileSync } from 'node:fs'
import { axeFinds, settled, visit, written } from './browser.mjs'
import { equal, must, Unlike, until } from './harness.mjs'
import { landed } from './landing.mjs'

/** Asks the server as the page does. */
function ask(page, path, query = {}) {
  return page.evaluate(async (where) => (await fetch(where)).json(), path + '?' + new URLSearchParams(query))
}

/** The parameters of the place that the address says. */
async function placeOf(page) {
  return Object.fromEntries(new URLSearchParams((await page.evaluate(() => location.hash)).split('?')[1]))
}

/** Waits until the address says what it should. */
async function comes(page, what, holds) {
  let now
  await until(what, async () => holds((now = await placeOf(page)))).catch((e) => {
    throw new Error(`${e.message}: ${JSON.stringify(now)}`)
  })
  return now
}

/** From a wait to who ended it, to whom that one woke, to the stretches beside it, and back. */
export async function followsWakeUps(p, r, shot) {
  const { page } = p
  const { edge, before } = await aWait(page, r)
  await visit(p, `timeline?r=${r}&from=${Math.max(0, edge.at_ns - 2e6)}&to=${edge.at_ns + 2e6}&lane=go:${edge.woken}&at=${edge.at_ns - 1}&panel=moment`)
  await told(page, edge.woken)
  await laneInSight(page, `go:${edge.woken}`)
  await shot('moment')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on a moment:\n${found.join('\n')}`)

  await page.keyboard.press('[')
  const waker = await comes(page, 'who ended the wait', (q) => q.lane === `go:${edge.waker}`)
  equal(Number(waker.at), edge.at_ns - 1, 'the moment before the wake-up')
  await told(page, edge.waker)
  await laneInSight(page, waker.lane)
  await shot('moment-waker')

  const next = await nextWoken(page, r, edge.waker, Number(waker.at))
  await page.keyboard.press(']')
  await comes(page, 'whom it woke', (q) => q.lane === `go:${next.woken}` && Number(q.at) === next.at_ns)
  await page.keyboard.press('u')
  await comes(page, 'the step back', (q) => q.lane === waker.lane && q.at === waker.at)
  await page.keyboard.press('u')
  await comes(page, 'the step back to the wait', (q) => q.lane === `go:${edge.woken}` && Number(q.at) === edge.at_ns - 1)
  await told(page, edge.woken)

  // The button says the same as the key.
  await page.locator('.tl-buttons button', { has: page.locator('kbd', { hasText: '[' }) }).click()
  await comes(page, 'who ended the wait, by its button', (q) => q.lane === `go:${edge.waker}`)
  await page.goBack()
  await told(page, edge.woken)

  await page.keyboard.press('.')
  const later = await comes(page, 'the next stretch', (q) => Number(q.at) >= before.to_ns)
  equal(later.lane, `go:${edge.woken}`, 'the lane of the next stretch')
  await told(page, edge.woken)
  await page.keyboard.press(',')
  await comes(page, 'the stretch before it', (q) => Number(q.at) >= before.from_ns && Number(q.at) < before.to_ns)
  await told(page, edge.woken)
  await page.keyboard.press('f')
  const most = 4 * Math.max(before.to_ns - before.from_ns, 1000)
  await comes(page, 'all of the stretch, and little more', (q) =>
    Number(q.from) <= before.from_ns && Number(q.to) >= before.to_ns && Number(q.to) - Number(q.from) < most)
}

// aWait is a wait of a goroutine that another one ended, in the middle of the run, or
// near it: where others used the machine, the program may have stood for a while.
async function aWait(page, r) {
  const { duration_ns: all } = await ask(page, 'api/timeline', { r })
  let seen = 0
  for (const part of [0.5, 0.4, 0.6, 0.3, 0.7]) {
    const edges = await until('the wake-ups', async () => {
      const answer = await ask(page, 'api/timeline/edges', { r, from: Math.round(all * part), to: Math.round(all * part) + 20e6 })
      return !answer.pending && (answer.edges ?? [])
    })
    seen += edges.length
    for (const edge of edges.filter((e) => e.waker > 0 && e.waited_ns > 1000)) {
      const m = await until('the moment', async () => {
        const answer = await ask(page, 'api/timeline/at', { r, lane: `go:${edge.woken}`, at: edge.at_ns - 1 })
        return !answer.pending && answer
      })
      if (m.woken?.waker === edge.waker && m.woken.at_ns === edge.at_ns) return { edge, before: m.span }
    }
  }
  throw new Error(`no wait that another goroutine ended among ${seen} wake-ups`)
}

// nextWoken is whom a goroutine woke first from a moment on.
async function nextWoken(page, r, waker, from) {
  const { duration_ns: all } = await ask(page, 'api/timeline', { r })
  for (const ahead of [1e6, 2e7, 5e8]) {
    const { edges } = await until('the wake-ups', async () => {
      const answer = await ask(page, 'api/timeline/edges', { r, from, to: Math.min(from + ahead, all), lanes: `go:${waker}` })
      return !answer.pending && answer
    })
    const first = edges.filter((e) => e.waker === waker && e.at_ns >= from).sort((a, b) => a.at_ns - b.at_ns)[0]
    if (first) return first
  }
  throw new Error(`${waker} woke nobody`)
}

// told waits until the panel tells of a goroutine.
function told(page, goroutine) {
  return page.locator('.tl-moment dd', { hasText: new RegExp(`^${goroutine}$`) }).first().waitFor()
}

function laneInSight(page, lane) {
  return until(`the lane ${lane} in sight`, () => page.evaluate((id) => [...document.querySelectorAll('.tl-name')].some((el) => {
    const a = el.getBoundingClientRect(), b = document.querySelector('.tl-scroll').getBoundingClientRect()
    return el.dataset.lane === id && a.bottom > b.top && a.top < b.bottom
  }), lane))
}

/**
 * The kernel's samples: their lanes, what one of them was doing, by a click, the way
 * to its thread and to the flame graph, and the sums of a window. Where the kernel
 * refused them there is no lane, and the sources say why. Samples are chance: a
 * recording that has too few of a kind is Unlike.
 */
export async function readsKernelSamples(p, r, shot) {
  const { page } = p
  const { lanes, states, duration_ns: all } = await ask(page, 'api/timeline', { r })
  const { members, refused } = await ask(page, 'api/sources', { r })
  const head = lanes.find((l) => l.id === 'kernel')
  if (!head) {
    must(refused.some((f) => /kernel/.test(f.source)), 'no kernel samples, and nobody refused them')
    return
  }
  if (!(head.count > 20 && head.children > 0)) throw new Unlike(`${head.count} samples of ${head.children} CPUs`)
  must(members.some((m) => m.name.endsWith('kernel.jsonl') && /: \d+ samples/.test(m.what)), 'the sources do not count the samples')

  await onOneClock(page, r, all, lanes, states)
  const { lane, at, span } = await aSample(page, r, all, lanes, states)
  const place = `timeline?r=${r}&open=kernel&lanes=kernel&from=${Math.max(0, at - 40e6)}&to=${at + 40e6}`
  await visit(p, place)
  await laneInSight(page, 'kernel')
  await laneInSight(page, lane)
  await shot('kernel-lanes')
  const where = await page.evaluate(({ lane, at }) => {
    const row = document.querySelector(`.tl-name[data-lane="${lane}"]`).getBoundingClientRect()
    const picture = document.querySelector('.tl-overlay').getBoundingClientRect()
    const q = new URLSearchParams(location.hash.split('?')[1])
    const [from, to] = [Number(q.get('from')), Number(q.get('to'))]
    return { x: picture.left + ((at - from) / (to - from)) * picture.width, y: row.top + row.height / 2 }
  }, { lane, at })
  await page.mouse.click(where.x, where.y)
  await comes(page, 'the sample that was clicked', (q) => q.lane === lane && q.panel === 'moment')
  await page.locator('.tl-moment dd', { hasText: span.reason }).first().waitFor()
  await page.locator('.tl-moment .tl-frame-kernel').first().waitFor()
  await shot('kernel-sample')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on a sample:\n${found.join('\n')}`)

  await page.locator('.tl-moment button', { hasText: 'Show its thread' }).click()
  await comes(page, 'its thread', (q) => q.lane === `m:${span.thread}`)
  await page.goBack()
  await page.locator('.tl-moment .tl-frame-kernel').first().waitFor() // of a thread the trace has no frames of the kernel
  const flame = page.locator('.tl-moment a[href*="#/flame?kind=kernel"]')
  await flame.waitFor()
  const link = await flame.getAttribute('href')
  await flame.click()
  await comes(page, 'the flame graph of the samples', (q) => q.kind === 'kernel')
  await landed(page, link, 'the flame graph of a sample')

  const window = { from: Math.round(all / 4), to: Math.round(all / 2) }
  const { kernel } = await ask(page, 'api/timeline/select', { r, ...window, lanes: 'kernel' })
  await visit(p, `timeline?r=${r}&sel=${window.from}-${window.to}&sl=kernel&panel=selection`)
  const section = page.locator('.tl-kernel')
  await section.waitFor()
  const numbers = (await section.locator('p').innerText()).replaceAll(',', '').match(/\d+/g).map(Number)
  equal(numbers[0], kernel.samples, 'the samples of the window')
  must(numbers.includes(kernel.in_kernel), `${kernel.in_kernel} of them in the kernel: ${numbers}`)
  equal(await section.locator('[role=rowgroup] [role=gridcell]').first().innerText(), kernel.calls[0].name, 'what the kernel did most')
  await shot('kernel-window')
}

// onOneClock asks the trace what the threads of samples did when these were taken:
// who was in a system call by the kernel was so by the runtime, which knows nothing of
// the kernel's samples. A little differs: page faults are no calls for the runtime.
async function onOneClock(page, r, all, lanes, states) {
  let same = 0, asked = 0
  const cpus = lanes.filter((l) => l.kind === 'cpu').map((l) => l.id)
  const moments = Array.from({ length: 400 }, (_, i) => all * (0.1 + 0.8 * ((i * 0.618) % 1))) // all over the run, however few there are
  for (const [lane, at] of moments.flatMap((at) => cpus.map((lane) => [lane, at]))) {
    if (asked >= 40) break
    const { span } = await ask(page, 'api/timeline/at', { r, lane, at: Math.round(at) })
    if (states[span.state] !== 'syscall' || !/^(openat|write|read|unlinkat|close|pread64)$/.test(span.reason)) continue
    const thread = await until('the thread', async () => {
      const answer = await ask(page, 'api/timeline/at', { r, lane: `m:${span.thread}`, at: span.to_ns })
      return !answer.pending && answer
    })
    asked++
    if (states[thread.span.state] === 'syscall') same++
  }
  if (!(asked >= 10 && same >= 0.8 * asked)) throw new Unlike(`of ${asked} samples in a system call ${same} are in one by the trace as well`)
}

// aSample is a sample in the kernel, of one CPU, in the middle of the run.
async function aSample(page, r, all, lanes, states) {
  for (const { id: lane } of lanes.filter((l) => l.kind === 'cpu')) {
    for (let at = all / 2; at < all; at += 5e6) {
      const { span } = await ask(page, 'api/timeline/at', { r, lane, at: Math.round(at) })
      if (states[span.state] === 'syscall' && span.to_ns - span.from_ns > 2e6) return { lane, span, at: Math.round((span.from_ns + span.to_ns) / 2) }
    }
  }
  throw new Unlike('no sample in the kernel')
}

/** Zooming by keys, and each step back by one. */
export async function undoes(p, r) {
  const { page } = p
  await visit(p, `timeline?r=${r}`)
  const windows = [await placeOf(page)]
  for (const key of ['w', 'd']) {
    await page.keyboard.press(key)
    const last = windows.at(-1)
    windows.push(await comes(page, `the window after ${key}`, (q) => q.from !== last.from || q.to !== last.to))
    await written(page) // movements that follow each other at once are one step
    windows[windows.length - 1] = await placeOf(page)
  }
  const near = (a, b) => Math.abs(Number(a) - Number(b)) < 1000
  await page.keyboard.press('u')
  await comes(page, 'the window before', (q) => near(q.from, windows[1].from) && near(q.to, windows[1].to))
  await page.keyboard.press('u')
  const { duration_ns: all } = await ask(page, 'api/timeline', { r })
  await comes(page, 'all of the run', (q) => (q.from === undefined || near(q.from, 0)) && (q.to === undefined || near(q.to, all)))
}

/** The utilization: a longer window, what counts, and the worst windows in the timeline. */
export async function readsUtilization(p, r, shot) {
  const { page } = p
  await visit(p, `runtime?r=${r}`)
  const panel = page.locator('#chart-mmu')
  await panel.scrollIntoViewIfNeeded()
  const sentence = () => panel.locator('.mmu-say').innerText()
  const first = await sentence()
  const slider = panel.locator('input[type=range]')
  await slider.focus()
  for (let i = 0; i < 40; i++) await page.keyboard.press('ArrowRight')
  const { window } = await comes(page, 'the longer window', (q) => Number(q.window) > 10e6)
  await settled(page)
  must((await sentence()) !== first, `the sentence stays: ${first}`)
  const answer = await ask(page, 'api/mmu', { r, window })
  equal(await panel.locator('[role=grid] .table-body [role=row]').count() > 0, answer.worst.length > 0, 'the worst windows are listed')
  const flag = panel.locator('.mmu-flags input:not([disabled])').first()
  const was = await flag.isChecked()
  await flag.click()
  await comes(page, 'what counts', (q) => (q.flags ?? '') !== '')
  await settled(page)
  equal(await flag.isChecked(), !was, 'the box')
  await shot('utilization')
  const row = panel.locator('[role=grid] .table-body [role=row] a').first()
  const link = await row.getAttribute('href')
  await row.click()
  await landed(page, link, 'the worst window')
  await page.goBack()
  await panel.waitFor()
}

/** A kind of task, its slowest, that one's regions and log lines, and its lane. */
export async function looksIntoTasks(p, r, shot) {
  const { page } = p
  const all = await ask(page, 'api/tasks', { r })
  const type = all.tasks.findIndex((t) => t.slow?.some((s) => s.logs > 0))
  must(type >= 0, 'no slow task with a log line')
  const name = all.tasks[type].name
  await visit(p, 'tasks?' + new URLSearchParams({ r, task: name }))
  must((await page.locator('main .histogram, main svg').count()) > 0, 'no latencies are drawn')
  const slow = all.tasks[type].slow.find((s) => s.logs > 0)
  await page.locator('.table-body a', { hasText: new RegExp(`^${slow.id}$`) }).first().click()
  await page.locator('#task .task-svg').waitFor()
  const one = await ask(page, 'api/task', { r, id: slow.id })
  equal(await page.locator('#task .task-svg .region').count(), (one.regions ?? []).length, 'regions that are drawn')
  equal(await page.locator('#task .task-svg .log-head').count(), (one.lines ?? []).length, 'log lines that are drawn')
  must((one.regions ?? []).length > 0 && (one.lines ?? []).length > 0, 'the task has no region or no line')
  await shot('task')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on a task:\n${found.join('\n')}`)
  if (all.regions.length > 0) {
    await visit(p, 'tasks?' + new URLSearchParams({ r, region: all.regions[0].name }))
    must((await page.locator('main').innerText()).includes(all.regions[0].name.slice(0, 20)), 'the region')
    await shot('region')
  }
  must((await page.locator('main [role=grid]').count()) >= 2, 'tables of tasks, regions and log lines')
  await page.goBack()
  await page.locator('#task a[href*="#/timeline"]').waitFor()
  const link = await page.locator('#task a[href*="#/timeline"]').getAttribute('href')
  await page.locator('#task a[href*="#/timeline"]').click()
  await landed(page, link, 'the lane of the task')
  await page.goBack()
}

/** Saved results: the rounds of a trial one by one, the curve of a knob, the two sides of a comparison. */
export async function readsResults(p, saved, shot) {
  const { page } = p
  for (const [i, file] of saved.entries()) {
    const result = JSON.parse(readFileSync(file, 'utf8'))
    await visit(p, `compare?r=0&trial=${i}`)
    if (file.endsWith('trial.json')) {
      const dots = await page.locator('svg.rounds').first().locator('.dot').count()
      must(dots >= 2 && dots <= 2 * result.rounds.length, `${dots} dots of ${result.rounds.length} rounds`)
      equal(await page.locator('svg.rounds').first().locator('.median').count(), 2, 'the medians of both sides')
    } else if (file.endsWith('tuned.json')) {
      const points = await page.locator('svg.tune-svg .point, svg.tune-svg .chosen, svg.tune-svg .failed').count()
      must(points >= 3, `${points} points of three settings`)
      equal(await page.locator('svg.tune-svg .line').count() > 0, true, 'the curve')
    } else {
      equal(await page.locator('.cmp-side').count(), 2, 'the two sides')
      must((await page.locator('.cmp-findings li').count()) > 0, 'no finding is compared')
    }
    await shot(`result-${i}`)
  }
}

/** Two saved results of one kind beside each other: chosen, exchanged, and alone again. */
export async function comparesResults(p, saved, shot) {
  const { page } = p
  const called = (name) => saved.findIndex((f) => f.endsWith('/' + name))
  const chosen = () => page.locator('.data-head select').last()
  for (const [name, other] of [['trial.json', 'slower-trial.json'], ['tuned.json', 'slower-tuned.json']]) {
    const [a, b] = [called(name), called(other)]
    await visit(p, `compare?r=0&trial=${a}`)
    equal(await chosen().locator('option').count(), 2, 'what it can be compared with: nothing, and the other')
    await chosen().selectOption(String(b))
    await comes(page, 'the other in the address', (q) => q.trial === String(a) && q.with === String(b))
    await settled(page)
    equal(String(await page.locator('.cmp-side b:not(.cmp-letter)').allInnerTexts()), `${name},${other}`, 'the two sides')
    const told = await ask(page, 'api/compare', { trial: a, with: b })
    const { effects = [], curves = [] } = told.comparison
    if (name === 'trial.json') {
      must(effects.length > 0, 'no metric is compared')
      equal(await page.locator('.cmp-plots').count(), effects.length, 'rows with the intervals of both')
      must(effects.some((e) => e.verdict === 'regressed' && e.ratio > 3.6 && e.ratio < 4.4), () => `four times as slow is ${JSON.stringify(effects.map((e) => [e.metric, e.verdict, e.ratio]))}`)
    } else {
      equal(curves.length, 1, 'curves')
      equal(await page.locator('.two-svg .two-A .spot').count(), curves[0].a.filter((x) => x.goal > 0).length, 'points of A')
      equal(await page.locator('.two-svg .two-B .spot').count(), curves[0].b.filter((x) => x.goal > 0).length, 'points of B')
    }
    await shot('two-' + name)
    await page.locator('.data-head button').click()
    await comes(page, 'the two exchanged', (q) => q.trial === String(b) && q.with === String(a))
    await settled(page)
    await page.goBack()
    await comes(page, 'the two as before', (q) => q.trial === String(a) && q.with === String(b))
    await chosen().selectOption('')
    await comes(page, 'one alone', (q) => q.trial === String(a) && q.with === undefined)
    await settled(page)
  }
  // An address that somebody typed says why it cannot be answered.
  await page.evaluate((to) => (location.hash = to), `#/compare?trial=${called('trial.json')}&with=${called('tuned.json')}`)
  await page.locator('.state-failed, [role=alert]').first().waitFor()
  must((await page.locator('main').innerText()).includes('cannot be compared'), 'what cannot be compared')
  await until('the refusal to be noticed', () => p.faults.some((f) => f.startsWith('400 ')))
  p.faults.splice(0, p.faults.length, ...p.faults.filter((f) => !f.startsWith('400 '))) // which was asked for
}

/** Each view of the flame graph, a search in each, and one frame closer. */
export async function turnsTheFlameGraph(p, r, shot) {
  const { page } = p
  const flame = await ask(page, 'api/flame', { r, kind: 'cpu' })
  const own = flame.names.find((_, i) => flame.func_kinds[i] === 0)
  must(own, 'no function of the program itself')
  for (const view of ['icicle', 'sandwich', 'table']) {
    await visit(p, 'flame?' + new URLSearchParams({ r, kind: 'cpu', view, ...(view === 'sandwich' ? { fn: own } : { q: own }) }))
    if (view !== 'table') must(await page.locator('canvas.flame-canvas').first().isVisible(), `no picture in ${view}`)
    must((await page.locator('main').innerText()).includes(own.split('/').pop()), `${view} does not tell of ${own}`)
    await shot('flame-' + view)
  }
  await visit(p, 'flame?' + new URLSearchParams({ r, kind: 'cpu', q: own }))
  const tree = page.locator('.flame-box[role=tree]')
  await tree.focus()
  await page.keyboard.press('Enter')
  const { focus } = await comes(page, 'the frame that is zoomed to', (q) => q.focus)
  must((await page.locator('.flame-path [aria-current]').innerText()).includes(own.split('/').pop().slice(0, 20)), `zoomed to ${focus}`)
  await page.goBack()
  await comes(page, 'all of the tree', (q) => !q.focus)
}

/** Goroutines: filtered, sorted, with another column, and one of them in the timeline. */
export async function readsGoroutines(p, r, shot) {
  const { page } = p
  const { columns, rows } = await ask(page, 'api/groups', { r })
  const name = rows[0][columns.findIndex((c) => c.key === 'group')]
  await visit(p, `goroutines?r=${r}`)
  const listed = page.locator('[role=grid] .table-body [role=row]')
  await page.locator('.table-body a', { hasText: name.split('/').pop() }).first().click()
  await landed(page, '#/goroutines?group=' + encodeURIComponent(name), 'the largest group')
  must((await listed.count()) > 0, 'no goroutine of it is listed')
  const head = page.locator('[role=columnheader]', { has: page.locator('button') }).nth(1)
  await head.locator('button').click()
  await comes(page, 'what it is sorted by', (q) => q.sort)
  await settled(page)
  must(/ascending|descending/.test((await head.getAttribute('aria-sort')) ?? ''), 'the head does not say that it is sorted')
  await page.locator('.go-columns summary').click()
  await page.locator('.go-columns-all button').nth(1).click()
  await comes(page, 'all columns', (q) => q.cols)
  await settled(page)
  await shot('columns')
  const link = await listed.first().locator('a').getAttribute('href')
  await listed.first().locator('a').click()
  await landed(page, link, 'a goroutine')
}

/** Memory: the account adds up as the server says, over time a part can be taken out, and the address has it. */
export async function readsMemory(p, r, shot) {
  const { page } = p
  const said = await ask(page, 'api/memory', { r })
  const parts = said.rows.filter((row) => row.of === 'resident' && row.value !== null)
  const sum = said.rows.find((row) => row.of === 'all')
  must(parts.length > 4, () => `only ${parts.length} parts`)
  equal(parts.reduce((all, row) => all + row.value, 0), sum.value, 'the parts in all')
  await visit(p, `memory?r=${r}`)
  equal(await page.locator('.memory-account tbody tr:not(.memory-group)').count(), said.rows.length, 'rows of the account')
  const drawn = said.chart.series.length
  must((await page.locator('.chart-legend .chart-line').count()) >= drawn, 'a part is not in the picture')
  await shot('memory')
  await page.locator('.chart-legend .chart-line').first().click()
  await comes(page, 'the part that is taken out', (q) => q.hide === 'account.' + said.chart.series[0].name)
  await page.locator('.chart .u-over').focus()
  await page.keyboard.press('ArrowRight')
  await until('the figures at the cursor', async () => !((await page.locator('.chart-sum b').textContent()) ?? '').includes('mean'))
  await page.locator('.chart-line').first().click()
}

/** Who holds the heap: as the server says, and at a click the way to the most of it, in the picture as well. */
export async function readsHolders(p, shot) {
  const { page } = p
  await settled(page)
  const { held } = await ask(page, 'api/memory', { r: 0 })
  must(held.holders.length > 2 && held.types.length > 2, () => `${held.holders.length} holders, ${held.types.length} types`)
  equal(Number(await page.locator('#held [role=grid]').first().getAttribute('aria-rowcount')), held.holders.length + 1, 'rows of the holders')
  const first = page.locator('.memory-open').first()
  const name = held.holders.find((h) => h.kind === 'global' && h.way.length > 1).name
  await page.locator('.memory-open', { hasText: name.split('.').pop() }).first().click()
  await comes(page, 'the holder that is open', (q) => q.held === 'global ' + name && q.focus === held.holders.find((h) => h.name === name).in_tree)
  await settled(page)
  equal(await page.locator('.memory-way tbody tr').count(), held.holders.find((h) => h.name === name).way.length, 'steps of the way')
  must(((await page.locator('.flame-path').textContent()) ?? '').includes(name), 'the picture is not at the holder')
  await shot('way')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on who holds the heap:\n${found.join('\n')}`)
  await page.locator('.memory-way h4 button').click()
  await comes(page, 'the way that is closed', (q) => q.held === undefined && q.focus === undefined)
  must(await first.isVisible(), 'the holders are gone')
}

/** A dump: its states, its locks with who holds them, and a stack, on the page as the server says. */
export async function readsADump(p, shot) {
  const { page } = p
  await settled(page)
  const said = await ask(page, 'api/standing', { r: 0 })
  equal(said.total, 43, 'goroutines of the dump')
  must(said.locks.length > 0, 'no lock is waited for')
  equal(await page.locator('.standing-locks tbody tr').count(), said.locks.length, 'locks in the table')
  equal(await page.locator('.waitgraph .wg-lock').count(), said.locks.length, 'locks in the picture')
  await shot('locks')
  await page.locator('.standing-open').first().click()
  must(((await page.locator('.standing-stack pre').textContent()) ?? '').includes(said.groups[0].function), 'the stack is not that of the group')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on a dump:\n${found.join('\n')}`)
  await shot('stack')
  await page.locator('.standing-states button', { hasText: 'IO wait' }).click()
  await comes(page, 'the state that is chosen', (q) => q.q === 'IO wait')
  await settled(page)
  equal(await page.locator('[role=grid] .table-body [role=row]').count(), 1, 'groups that wait for the network')
}

/** A file that is dropped, by the events that a hand makes. */
export async function takesDroppedFile(p, path) {
  const data = readFileSync(path).toString('base64')
  await p.page.evaluate(({ data, name }) => {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0))
    const files = new DataTransfer()
    files.items.add(new File([bytes], name))
    const drop = (type) => window.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }))
    drop('dragenter')
    drop('dragover')
    drop('drop')
  }, { data, name: path.split('/').pop() })
  await p.page.locator('.verdict').waitFor({ timeout: 60_000 })
  await settled(p.page)
}

/** The index of the findings, the keys between them, and the palette. */
export async function goesAnywhere(p, r, shot) {
  const { page } = p
  await visit(p, `findings?r=${r}`)
  const titles = await page.locator('.findings-index a').allInnerTexts()
  must(titles.length > 1, 'an index of several findings')
  equal(await page.locator('.finding-body').count() >= 1 && await page.locator('#finding-2 .fold').first().getAttribute('open'), null, 'the second finding is folded')
  await page.keyboard.press('j')
  await comes(page, 'the first finding', (q) => q.f === '1')
  await page.keyboard.press('j')
  await comes(page, 'the second finding', (q) => q.f === '2')
  await page.locator('#finding-2 > .finding-body').waitFor()
  equal(await page.evaluate(() => document.activeElement?.id), 'finding-2', 'the keyboard is at it')
  await page.keyboard.press('k')
  await comes(page, 'the first finding again', (q) => q.f === '1')
  await page.locator('.findings-index a').nth(1).click()
  await comes(page, 'the second finding, by the index', (q) => q.f === '2')

  await page.keyboard.press('Control+k')
  await page.locator('dialog.palette input').waitFor()
  await page.keyboard.type('timel')
  await until('the timeline to be found', async () => (await page.locator('.palette [aria-selected=true]').innerText()).startsWith('Timeline'))
  await shot('palette')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on the palette:\n${found.join('\n')}`)
  await page.keyboard.press('Enter')
  await until('the timeline', () => page.evaluate(() => location.hash.startsWith('#/timeline')))
  await page.locator('#tl-search').focus()
  await page.keyboard.press('Control+k')
  await page.locator('dialog.palette input').waitFor()
  const group = (await ask(page, 'api/groups', { r })).links.length
  must(group > 0, 'groups of goroutines')
  await page.keyboard.type('no such thing')
  await page.locator('.palette p[role=status]').waitFor()
  await page.keyboard.press('Escape')
  await until('the palette to close', async () => (await page.locator('dialog.palette').count()) === 0)
}

/** The flame graph of a window that was selected, the menu of a frame, and its source. */
export async function looksIntoAWindow(p, r, shot) {
  const { page } = p
  const { duration_ns: all } = await ask(page, 'api/timeline', { r })
  const from = Math.round(all * 0.4), to = Math.round(all * 0.6)
  await visit(p, `timeline?r=${r}&sel=${from}-${to}&panel=selection`)
  await page.locator('.tl-note input').fill('here it waits')
  await comes(page, 'the note in the address', (q) => q.note === 'here it waits')
  await page.locator('.tl-selection .tl-buttons a').click()
  await comes(page, 'the window of the flame graph', (q) => Number(q.from) === from && Number(q.to) === to)
  await settled(page)
  const whole = await ask(page, 'api/flame', { r })
  const part = await ask(page, 'api/flame', { r, from, to, kind: 'sync' })
  const sync = whole.kinds.find((k) => k.kind === 'sync')
  must(part.kind === 'sync' && part.total > 0 && part.total < sync.total * 0.5, `the window has ${part.total} of ${sync.total} ns of waits`)
  await shot('flame-window')
  await page.locator('.flame-time button').click()
  await comes(page, 'the whole run', (q) => q.from === undefined)

  await visit(p, `flame?r=${r}&kind=sync`)
  const box = await page.locator('.flame-box').boundingBox()
  // The row above the root has the largest group.
  await page.mouse.click(box.x + 200, box.y + box.height - 28, { button: 'right' })
  await page.locator('[role=menu] [role=menuitem]').first().waitFor()
  await shot('flame-menu')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on the menu:\n${found.join('\n')}`)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Escape')
  await until('the menu to close', async () => (await page.locator('[role=menu]').count()) === 0)
  await page.locator('.flame-frame button', { hasText: 'Source' }).click()
  await page.locator('.source').waitFor()
  const at = (await page.locator('.flame-frame-name code').first().getAttribute('title')) ?? ''
  const source = await ask(page, 'api/source', { r, kind: 'sync', fn: at })
  await until('the lines', async () => (await page.locator('.source tbody tr').count()) === source.lines.length)
  await shot('source')
}

/** From a finding about a lock to who holds it and who waits, and to one of them. */
export async function seesWhoHolds(p, r, shot) {
  const { page } = p
  const { insights } = await ask(page, 'api/timeline', { r })
  const insight = insights.find((f) => f.queue === 'lock')
  must(insight, 'no finding about a lock is on the timeline')
  await visit(p, `findings?r=${r}&f=${insight.finding}`)
  await page.locator(`#finding-${insight.finding} .finding-more a`).first().click()
  const { from, to } = await comes(page, 'the holders of the finding', (q) => q.panel === 'holds' && Number(q.finding) === insight.finding)
  const told = await ask(page, 'api/timeline/holds', { r, finding: insight.finding, from, to })
  must(told.holders.length > 0 && told.waiters.length > 0 && told.total > 0, 'nobody holds it, or nobody waits')
  const lists = page.locator('.tl-holds-both section')
  await until('holders and waiters', async () => (await lists.nth(0).locator('li').count()) === told.holders.length && (await lists.nth(1).locator('li').count()) === told.waiters.length)
  await settled(page)
  await shot('holds')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on the holders:\n${found.join('\n')}`)
  await lists.nth(0).locator('.tl-go').first().click()
  await comes(page, 'the goroutine that held it longest', (q) => q.lane === 'go:' + told.holders[0].longest.goroutine && q.panel === 'moment')
}

/** What several recordings of one program say as one, in how many each finding is, and back to one. */
export async function readsTogether(p, r, shot) {
  const { page } = p
  const { runs } = await ask(page, 'api/session')
  const mates = runs[r].together
  must(mates.length > 1, 'the run is alone')
  await visit(p, `findings?r=${r}`)
  await page.locator('.together a').first().click()
  await comes(page, 'all of them', (q) => q.all === '1')
  const told = await ask(page, 'api/together', { runs: mates.join() })
  await until('the joint findings', async () => (await page.locator('.finding').count()) === told.findings.diagnosis.findings.length)
  const first = told.findings.diagnosis.findings[0]
  must((await page.locator('#finding-1 .finding-sure').textContent()).includes(`in ${first.found} of ${mates.length}`), 'it is not said in how many')
  await shot('together')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on several recordings:\n${found.join('\n')}`)
  await page.locator('#finding-1 .finding-more a').first().click()
  await comes(page, 'the run that is shown', (q) => Number(q.r) === told.of[0])
}

/** Escape gives up the mark of a number that was followed, after what is open above it. */
export async function dismissesAMark(p, r) {
  const { page } = p
  await visit(p, `findings?r=${r}`)
  await page.locator('.evidence td a').first().click()
  await page.locator('.marked').waitFor()
  for (let i = 0; i < 3 && (await page.locator('.marked').count()) > 0; i++) {
    await page.keyboard.press('Escape')
    await settled(page)
  }
  await until('the mark to go after Escape', async () => (await page.locator('.marked').count()) === 0)
}
