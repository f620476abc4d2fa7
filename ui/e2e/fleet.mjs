// The page of a fleet as a person uses it: from the dearest service to the deploy that
// made it so and the function that did it, held to what the server answers when it is
// asked directly. The fleet is the demonstration's, of which the truth is known.
//
//   node e2e/fleet.mjs          by itself; GOWHY_FLEET=… to try a binary, SHOTS=… keeps pictures
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { axeFinds, faultless, launch, open, serve, settled, shows, visit } from './browser.mjs'
import { check, each, equal, must, summary, until } from './harness.mjs'
import { repository } from './recordings.mjs'

const run = promisify(execFile)
const SIZES = [[1440, 900], [1024, 768], [390, 844]]
const DIFFERENCE = 'flame?service=checkout&version=v1.5.0&base=v1.4.0'

/** Looks at it in a browser; shot is told each page that is worth a picture. */
export async function walksTheFleet(browser, dir, shot) {
  const program = process.env.GOWHY_FLEET ?? join(dir, 'gowhy-fleet')
  let server, p, here
  try {
    const begun = await check('fleet: its page is served', async () => {
      if (!process.env.GOWHY_FLEET) await run('go', ['build', '-o', program, './fleet/cmd/gowhy-fleet'], { cwd: repository })
      server = await serve(program, ['demo', '--listen', '127.0.0.1:0'], dir, /http:\/\/127\.0\.0\.1:\d+(?=,)/)
      const url = server.url + '/'
      p = await open(browser, url, { viewport: { width: 1440, height: 900 } })
      here = { p, page: p.page, url, shot }
    })
    if (!begun) return
    await check('fleet: services by what they cost, their versions, a filter', () => listsServices(here))
    await check('fleet: from a service to its deploy and the difference', () => followsADeploy(here))
    await check('fleet: deploys, what is claimed and what is not', () => readsVersions(here))
    await check('fleet: a flame graph is searched, zoomed, and of what is chosen', () => turnsTheGraph(here))
    await check('fleet: findings, or why there are none', () => readsFindings(here))
    await check('fleet: recordings, and the first cause in each', () => listsRuns(here, program, dir))
    await check('fleet: the time, and what to do where nothing was sent', () => choosesTime(here))
    await check('fleet: the keyboard', () => usesKeys(here))
    await check('fleet: what is missing, what failed, who asks, names that harm', () => hearsOfFaults(browser, here))
    await check('fleet: it fits, in both themes and languages, and axe finds nothing', () => fits(browser, here))
    await p.close()
  } finally {
    server?.stop()
  }
}

const paramsOf = async (page) => Object.fromEntries(new URLSearchParams((await page.evaluate(() => location.hash)).split('?')[1]))
const firstCells = (page) => page.$$eval('.table-body [role=row] [role=gridcell]:first-child', (cells) => cells.map((c) => c.textContent))

/** Asks the server as the page does, of the last six hours. */
function ask(page, path, query = {}) {
  return page.evaluate(async (where) => (await fetch(where)).json(), `api/v1/${path}?` + new URLSearchParams({ from: 'now-6h', ...query }))
}

async function listsServices({ p, page, shot }) {
  await page.locator('.table-body [role=row]').first().waitFor()
  await settled(page)
  const told = await ask(page, 'services')
  const names = [...new Set(told.services.map((s) => s.name))]
  const rows = await firstCells(page)
  equal([...rows].sort().join(), [...names].sort().join(), 'the services')
  equal(rows[0], 'checkout', 'the service that costs most')
  const cells = await page.$$eval('.table-body [role=row]:first-child [role=gridcell]', (all) => all.map((c) => c.textContent))
  must(/^\d+(\.\d+)?$/.test(cells[1]) && Number(cells[1]) > 5, `cores: ${cells[1]}`)
  must(/ [MG]iB$/.test(cells[3]), `bytes in use: ${cells[3]}`)
  must(/ MiB\/s$/.test(cells[4]), `allocations: ${cells[4]}`)
  equal(cells[6], '20', 'instances')
  must((await page.locator('.table-body .spark').count()) === names.length, 'the sparklines')
  await shot(page, 'fleet-services')

  await page.locator('.fleet-fold').first().click()
  await until('the versions', async () => (await firstCells(page)).slice(0, 3).join() === 'checkout,v1.5.0,v1.4.0')
  await until('the address to say what is open', async () => (await paramsOf(page)).open === 'checkout')
  await page.getByRole('columnheader', { name: 'Service' }).locator('button').click()
  await until('the order by name', async () => (await firstCells(page))[0] === 'cart')
  await page.fill('.fleet-filter input', 'PAY')
  await until('the filter', async () => (await firstCells(page)).join() === 'payment')
  await page.fill('.fleet-filter input', 'nonsense')
  await page.locator('.table-empty').waitFor()
  await page.fill('.fleet-filter input', '')
  await faultless(p)
}

async function followsADeploy({ p, page, shot }) {
  await visit(p, 'services')
  await page.locator('.table-body a', { hasText: 'checkout' }).first().click()
  await page.locator('.fleet-figures').waitFor()
  await settled(page)
  await shows(page, 'the service')
  await page.locator('#chart-cpu canvas').waitFor()
  equal((await page.$$eval('.chart-line', (all) => all.map((l) => l.textContent.match(/v1\.\d\.0/)[0]))).join(), 'v1.4.0,v1.5.0', 'the lines of the chart')
  await shot(page, 'fleet-service')
  const box = await page.locator('#chart-cpu .u-over').boundingBox()
  await page.mouse.move(box.x + box.width * 0.6, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.9, box.y + 20, { steps: 4 })
  await page.mouse.up()
  await until('the time that was dragged over', async () => (await paramsOf(page)).from !== undefined)
  await settled(page)
  await page.goBack()
  await settled(page)
  await page.locator('.fleet-worse h4 a').first().click()
  await page.locator('.flame-canvas').waitFor()
  await settled(page)
  const place = await paramsOf(page)
  equal([place.service, place.version, place.base].join(), 'checkout,v1.5.0,v1.4.0', 'what is compared')
  const [worse] = (await ask(page, 'versions')).changes
  equal(place.focus, worse.function, 'the function that is zoomed to')
  await shows(page, 'the difference')
  await faultless(p)
}

async function readsVersions({ p, page, shot }) {
  await visit(p, 'versions')
  const told = (await ask(page, 'versions')).changes
  const worse = told.filter((c) => c.verdict === 'worse')
  equal(worse.length, 1, 'deploys that made something worse')
  const card = page.locator('.fleet-card')
  equal(await card.count(), 1, 'cards')
  const words = await card.innerText()
  const [c] = worse
  for (const part of [`${c.service}: worse since ${c.head}`, `${c.ratio.toPrecision(3)} times (${c.low.toPrecision(3)} to ${c.high.toPrecision(3)})`, c.function, `${c.base_processes} and ${c.head_processes} hosts that ran both`,
    `gowhy verify --base ${c.base} --head ${c.head} -- {binary}`]) must(words.includes(part), `“${part}” is not in:\n${words}`)
  await card.locator('summary').click()
  equal(await card.locator('tbody tr').count(), c.functions.length, 'the functions that differ')
  equal((await firstCells(page)).length, told.length - 1, 'deploys of which nothing is claimed')
  await shot(page, 'fleet-versions')
  await faultless(p)
}

async function turnsTheGraph({ p, page, shot }) {
  await visit(p, DIFFERENCE)
  const facts = await page.locator('.flame-frame dl').innerText()
  must(/Base version/.test(facts) && /Change\s+\+\d+%/.test(facts), `the difference: ${facts}`)
  await shot(page, 'fleet-difference')
  await visit(p, 'flame?service=checkout&view=table')
  const told = await ask(page, 'top', { service: 'checkout', limit: 1 })
  equal((await firstCells(page))[0], told.functions[0].name, 'the function with most of its own')
  await visit(p, 'flame?service=checkout')
  await page.fill('.flame-search input', 'step003')
  await page.locator('.flame-found').waitFor()
  must(/functions: 1,/.test(await page.locator('.flame-found').innerText()), 'what was found')
  await page.fill('.flame-search input', '')
  const canvas = await page.locator('.flame-box').boundingBox()
  await page.mouse.click(canvas.x + canvas.width * 0.1, canvas.y + canvas.height - 50)
  await until('the zoom', async () => (await paramsOf(page)).focus?.startsWith('~'))
  await page.keyboard.press('Escape')
  await until('the whole', async () => (await paramsOf(page)).focus === undefined)
  const choose = async (what, value) => {
    await page.locator('.flame-bar label', { has: page.locator(`.flame-word:text-is("${what}")`) }).locator('select').selectOption(value)
    await settled(page)
  }
  await choose('Version', 'v1.4.0')
  await choose('Compared with', 'v1.5.0')
  await choose('Stacks of', 'alloc_space')
  const place = await paramsOf(page)
  equal([place.version, place.base, place.kind].join(), 'v1.4.0,v1.5.0,alloc_space', 'what was chosen')
  must(/GiB|TiB/.test(await page.locator('.flame-frame dl').innerText()), 'bytes')
  await page.fill('.flame-group input', 'zone=zone-1')
  await page.keyboard.press('Enter')
  await until('the label', async () => (await paramsOf(page)).label === 'zone=zone-1')
  await settled(page)
  await shows(page, 'the graph of a label')
  await page.fill('.flame-group input', 'zone')
  await page.keyboard.press('Enter')
  await page.locator('.flame-wrong').waitFor()
  await page.fill('.flame-group input', 'zone=nowhere')
  await page.keyboard.press('Enter')
  await page.locator('.flame .state-empty').waitFor()
  await choose('Service', 'cart')
  equal((await paramsOf(page)).version, undefined, 'the version of another service')
  await faultless(p)
}

const FINDING = {
  service: 'checkout', versions: ['v1.5.0'], rule: 'hotfunction', title: 'Work is repeated', summary: '23% of the CPU goes into `regexp`.', function: 'example.com/checkout/order.step003', file: 'work/step00.go', line: 33,
  first: '2026-01-01T10:00:00Z', earlier: true, last: '2026-01-01T12:00:00Z', state: 'open', spans: 2, instances: 20, cost: 3.07, unit: 'cores', what: 'CPU in compiling', whole: true, cores: 3.07, money: 90,
  gain: '11.8% to 42.4% less CPU', confidence: 'medium', confidence_reasons: ['one kind of evidence'], trend: [{ at: '2026-01-01T10:00:00Z', cost: 1 }, { at: '2026-01-01T11:00:00Z', cost: 1.5 }],
  evidence: ['CPU in `regexp.Compile`: 23.1%'], facts: [{ name: 'CPU in `regexp.Compile`', value: 0.231, unit: 'ratio', text: '23.1%', origin: 'CPU profile, 1,234 samples' }], remedy: 'Compile the expression once.', code: 'var pattern = 1', prove: 'Measure it.', command: 'gowhy fleet evidence checkout -o merged.gowhy && gowhy merged.gowhy',
}

/** Has the page get another answer to a question than the server's. */
async function answers(page, path, change, status = 200) {
  const where = new RegExp(`/api/v1/${path}\\?`)
  await page.route(where, async (route) => {
    const real = status === 200 ? await (await route.fetch()).json().catch(() => ({})) : {}
    await route.fulfill({ status, json: change(real) })
  })
  return () => page.unroute(where)
}

// What the rules find in the demonstration. They judge span by span, the newest first:
// only with both the page stays as it is.
const FOUND = ['order.step003', 'catalog/order.step007']

async function readsFindings({ p, page, shot }) {
  const told = await until('what the rules found', async () => {
    const a = await ask(page, 'findings')
    return FOUND.every((name) => a.findings.some((f) => JSON.stringify(f).includes(name))) && a
  }, 300_000)
  await visit(p, 'findings')
  await page.reload()
  await settled(page)
  const first = await page.locator('.fleet-card').first().innerText()
  for (const part of [told.findings[0].title, told.findings[0].function, told.findings[0].command, told.findings[0].remedy]) must(first.includes(part), `“${part}” is not in:\n${first}`)
  must((await page.locator('main').innerText()).includes('no cause in the profiles, which alone cannot show that a program is well'), 'what silence means')
  await shot(page, 'fleet-findings')
  await page.locator('.fleet-card dd a').first().click()
  await page.locator('.flame-canvas').waitFor()
  await settled(page)
  equal((await paramsOf(page)).focus, told.findings[0].function, 'the function in the flame graph')

  const end = await answers(page, 'findings', () => ({ findings: [FINDING, { ...FINDING, state: 'gone', rule: 'hotmutex', trend: [], evidence: [], facts: [] }], verdicts: {}, omitted: 3, currency: 'EUR', judged: '2026-01-01T12:00:00Z' }))
  const priced = await answers(page, 'services', (a) => ({ ...a, core_month: 100, currency: 'EUR' }))
  await visit(p, 'findings')
  await page.reload()
  await settled(page)
  const words = await page.locator('.fleet-card').innerText()
  for (const part of ['checkout: Work is repeated', '3.07 cores (CPU in compiling), all 20 processes, 90 EUR a month', 'of each process, medium confidence: one kind of evidence', 'or before, v1.5.0', 'Compile the expression once.']) must(words.includes(part), `“${part}” is not in:\n${words}`)
  await page.locator('.fleet-card summary').click()
  must((await page.locator('.fleet-evidence').innerText()).includes('CPU in regexp.Compile: 23.1% CPU profile, 1,234 samples'), 'the evidence, and where it is from')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on findings:\n${found.join('\n')}`)
  await page.locator('.data-field select').selectOption('all')
  await until('both', async () => (await page.locator('.fleet-card').count()) === 2)
  await page.fill('.fleet-filter input', 'hotmutex')
  await until('one', async () => (await page.locator('.fleet-card').count()) === 1)
  await visit(p, 'services')
  const cells = await page.$$eval('.table-body [role=row]:first-child [role=gridcell]', (all) => all.map((c) => c.textContent))
  must(cells.includes('1, 3.07 cores') && cells.some((c) => /^[\d,]+ EUR$/.test(c)), `findings and money: ${cells}`)
  await shot(page, 'fleet-money')
  await end()
  await priced()
  const unjudged = await answers(page, 'findings', () => ({ findings: [], verdicts: {}, omitted: 0 }))
  await visit(p, 'findings')
  await page.reload()
  await settled(page)
  must((await page.locator('main').innerText()).includes('Nothing was judged in this time.'), 'that nothing was judged')
  await unjudged()
  await page.reload()
  await settled(page)
  await faultless(p)
}

async function listsRuns({ p, page, url, shot }, program, dir) {
  await visit(p, 'runs')
  await settled(page)
  must((await page.locator('main').innerText()).includes('gowhy fleet runs push run.gowhy --service NAME'), 'what to do where there is none')
  const file = join(dir, 'merged.gowhy')
  await run(program, ['evidence', 'checkout', '--version', 'v1.5.0', '--from', 'now-3h', '-o', file, '--server', url])
  await run(program, ['runs', 'push', file, '--service', 'checkout', '--version', 'v1.5.0', '--server', url])
  await until('its diagnosis', async () => (await ask(page, 'runs')).runs[0]?.diagnosis.state === 'done')
  await page.reload()
  await settled(page)
  const words = await page.locator('.fleet-card').innerText()
  for (const part of ['checkout v1.5.0: Work is repeated', 'order.step003', 'gowhy fleet runs get ']) must(words.includes(part), `“${part}” is not in:\n${words}`)
  const [got] = await Promise.all([page.waitForEvent('download'), page.locator('.fleet-card a[download]').click()])
  equal(readFileSync(await got.path()).compare(readFileSync(file)), 0, 'the recording that is downloaded')
  const found = await axeFinds(page)
  must(found.length === 0, () => `axe on runs:\n${found.join('\n')}`)
  await shot(page, 'fleet-runs')
  await page.fill('.fleet-filter input', 'nobody')
  await until('none', async () => (await page.locator('.fleet-card').count()) === 0)
  await faultless(p)
}

async function choosesTime({ p, page, shot }) {
  await visit(p, 'services')
  await page.selectOption('.fleet-time select', '24h')
  await until('the span', async () => (await paramsOf(page)).span === '24h')
  await page.click('.head-nav a[href^="#/versions"]')
  equal((await paramsOf(page)).span, '24h', 'the span on another screen')
  await page.selectOption('.fleet-time select', 'custom')
  await page.fill('.fleet-time input >> nth=0', '2020-01-01T00:00')
  await page.fill('.fleet-time input >> nth=1', '2020-01-02T00:00')
  await until('the time', async () => (await paramsOf(page)).until?.startsWith('2020-01-0'))
  await settled(page)
  must((await page.locator('main').innerText()).includes('No service has two versions in this time.'), 'that there is no deploy')
  await page.click('.head-nav a[href^="#/services"]')
  await settled(page)
  const words = await page.locator('main').innerText()
  for (const part of ['No service sent anything in this time.', 'gowhy serve --scrape', `ServerAddress:   "${new URL(page.url()).origin}"`]) must(words.includes(part), `“${part}” is not in:\n${words}`)
  await shot(page, 'fleet-nothing')
  await page.getByRole('button', { name: 'Look at the last 7 days' }).click()
  await settled(page)
  must((await firstCells(page)).length === 6, 'the services of seven days')
  await visit(p, 'services?from=2020-01-02T00:00:00Z&until=2020-01-01T00:00:00Z')
  await page.locator('[role=alert]').waitFor()
  await faultless(p)
}

async function usesKeys({ p, page }) {
  await visit(p, 'services')
  await page.evaluate(() => document.activeElement?.blur())
  for (const [key, screen] of [['2', 'findings'], ['4', 'flame'], ['3', 'versions'], ['1', 'services']]) {
    await page.keyboard.press(key)
    await until(`the screen of key ${key}`, async () => (await page.evaluate(() => location.hash)).startsWith('#/' + screen))
    await settled(page)
  }
  await page.keyboard.press('?')
  await page.locator('dialog[open] kbd').first().waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await until('where / leads', () => page.evaluate(() => document.activeElement?.tagName === 'INPUT'))
  await page.keyboard.press('Escape')
  await page.keyboard.press('3')
  await settled(page)
  await page.keyboard.press('j')
  await until('where j leads', () => page.evaluate(() => document.activeElement?.classList.contains('fleet-card')))
  await faultless(p)
}

async function hearsOfFaults(browser, { url }) {
  const q = await open(browser, url, { extraHTTPHeaders: { 'X-Scope-OrgID': 'team <b>' } })
  must((await q.page.locator('header').innerText()).includes('Tenant team <b>'), 'the tenant')
  must((await q.page.locator('main').innerText()).includes('No service sent anything'), 'the services of another tenant')
  await faultless(q)
  await q.close()
  const r = await open(browser, url)
  const hostile = '<img src=x onerror="window.owned=1">'
  await answers(r.page, 'services', (a) => ({ ...a, services: a.services.map((s) => ({ ...s, name: s.name === 'cart' ? hostile : s.name })), missing: ['shard 2'] }))
  await r.page.reload()
  await settled(r.page)
  must((await r.page.locator('.fleet-missing').innerText()).includes('shard 2'), 'what is missing')
  must((await firstCells(r.page)).includes(hostile), 'the name as it is')
  await answers(r.page, 'versions', () => ({ error: 'the store cannot answer' }), 500)
  await visit(r, 'versions')
  await r.page.reload() // the services have asked for them before
  await settled(r.page)
  must((await r.page.locator('.state-failed').innerText()).includes('the store cannot answer'), 'what the server said')
  r.faults.splice(0, r.faults.length, ...r.faults.filter((f) => !f.startsWith('500 ')))
  await faultless(r)
  await r.close()
}

async function fits(browser, { url, shot }) {
  const places = { services: 'services?open=checkout', service: 'services?service=checkout', findings: 'findings', versions: 'versions', flame: 'flame?service=checkout', difference: DIFFERENCE, nothing: 'services?from=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z' }
  await each(SIZES.flatMap(([width, height]) => [['light', 'en'], ['dark', 'zh']].map(([colorScheme, language]) => ({ width, height, colorScheme, language }))), async (o) => {
    const q = await open(browser, url, { viewport: { width: o.width, height: o.height }, colorScheme: o.colorScheme, locale: o.language === 'zh' ? 'zh-CN' : 'en-US' })
    await each(Object.entries(places), async ([name, place]) => {
      await visit(q, place)
      await q.page.screenshot({ fullPage: true, path: shot.path?.(`fleet-${name}-${o.width}-${o.colorScheme}`) })
      const wide = await q.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      must(wide <= 1, `${place} is ${wide} px wider than ${o.width}`)
      const found = await axeFinds(q.page)
      must(found.length === 0, () => `axe on ${place} at ${o.width}, ${o.colorScheme}:\n${found.join('\n')}`)
      const text = await q.page.evaluate(() => document.querySelector('header').textContent)
      must(/\p{Script=Han}/u.test(text.replace('中文', '')) === (o.language === 'zh'), `the language of the header: ${text}`)
    })
    await faultless(q)
    await q.close()
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dir = mkdtempSync(join(tmpdir(), 'gowhy-fleet-e2e-'))
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
  const shots = process.env.SHOTS
  if (shots) mkdirSync(shots, { recursive: true })
  const path = (name) => (shots ? join(shots, name + '.png') : undefined)
  const shot = Object.assign((page, name) => page.screenshot({ path: path(name) }), { path })
  const browser = await launch()
  await walksTheFleet(browser, dir, shot)
  await browser.close()
  process.exitCode = summary()
}
