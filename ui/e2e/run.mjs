// The page as a person uses it: every screen, in both themes and both languages,
// from the verdict to the evidence by clicking, in a browser that is watched for
// complaints and for any request that leaves the machine. Screenshots are left in
// shots/ to be looked at.
//
//   node e2e/run.mjs            GOWHY=… to try a binary, CHROMIUM=… a browser,
//                               KEEP=… keeps the recordings in a directory
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { comparesResults, dismissesAMark, followsWakeUps, goesAnywhere, looksIntoAWindow, looksIntoTasks, readsADump, readsGoroutines, readsHolders, readsKernelSamples, readsMemory, readsResults, readsTogether, readsUtilization, seesWhoHolds, takesDroppedFile, turnsTheFlameGraph, undoes } from './uses.mjs'
import { axeFinds, faultless, launch, open, settled, shows, view, visit, written } from './browser.mjs'
import { check, each, equal, must, oneOf, resting, summary, timed, until } from './harness.mjs'
import { walksTheFleet } from './fleet.mjs'
import { watchesAProgram } from './live.mjs'
import { catalogue, pageOfRules, walkCard, walked, walkRule } from './rules.mjs'
import { command, deadlock, demos, filepool, habits, holder, hostileFiles, httpBenchmark, results } from './recordings.mjs'

const run = promisify(execFile)
const shots = join(dirname(fileURLToPath(import.meta.url)), 'shots')
mkdirSync(shots, { recursive: true })
for (const f of readdirSync(shots)) rmSync(join(shots, f))
const dir = process.env.KEEP ?? mkdtempSync(join(tmpdir(), 'gowhy-e2e-'))
if (!process.env.KEEP) process.once('exit', () => rmSync(dir, { recursive: true, force: true }))

const shot = (page, name) => page.screenshot({ path: join(shots, name + '.png') })
const screenLinks = (page) => page.$$eval('.head-nav a', (as) => as.map((a) => a.getAttribute('href')))
const screenOf = (link) => link.match(/^#\/(\w+)/)[1]

const gowhy = await timed('gowhy', () => command(dir))
const sick = await timed('demos', () => demos(gowhy, dir))
sick.push(await timed('filepool', () => filepool(gowhy, dir)))
sick.push(...(await timed('habits', () => habits(gowhy, dir))))
const saved = await timed('results', () => results(gowhy, dir, sick))
const bench = await timed('benchmark', () => httpBenchmark(dir))
const dump = deadlock(dir)
const bad = await timed('hostile files', () => hostileFiles(dir))

const runs = sick.map((f, r) => ({ r, name: f.split('/').pop().replace('.gowhy', '') }))

const runCalled = (name) => runs.find((run) => run.name === name).r

let browser, main, http, hurt, crafted, nothing, sickRules, p
const begun = await check('pages are served, and all recordings are read', async () => {
  sickRules = await timed('rules', () => pageOfRules(dir))
  browser = await launch()
  main = await view(gowhy, [...sick, ...saved])
  http = await view(gowhy, bench)
  hurt = await view(gowhy, [...bad.run])
  crafted = await view(gowhy, [bad.crafted])
  nothing = await view(gowhy, [], shots) // a directory without recordings
  p = await open(browser, main.url + '#/findings?r=0')
  await ready(p)
})
if (!begun) process.exit(summary()) // which ends the servers and the browser

// ready waits until all runs of a server are read.
async function ready(p) {
  await until('all runs to be read', () => p.page.evaluate(async () => {
    const s = await (await fetch('api/session')).json()
    return s.loading === '' && s.runs.length > 0 && s.runs.every((r) => !r.loading)
  }), 600_000)
  await settled(p.page)
}

// What has pages of its own goes on beside the others: these wait more than they work.
const besides = (async () => {
  await check('a dump: who waits for whom', async () => {
    const served = await view(gowhy, [dump])
    const q = await open(browser, served.url + '#/standing?r=0')
    await readsADump(q, (name) => shot(q.page, 'dump-' + name))
    await faultless(q)
    await q.close()
    served.stop()
  })

  await check('memory: who holds the heap', async () => {
    const served = await view(gowhy, [holder(sick)])
    const q = await open(browser, served.url + '#/memory?r=0')
    await ready(q)
    await readsHolders(q, (name) => shot(q.page, 'held-' + name))
    await faultless(q)
    await q.close()
    served.stop()
  })

  await check('several recordings of one program', async () => {
    const again = join(dir, 'again.gowhy')
    await run(gowhy, ['demo', 'hotmutex', '--no-proof', '-o', again])
    const served = await view(gowhy, [sick[runCalled('hotmutex')], again])
    const q = await open(browser, served.url + '#/findings?r=0')
    await ready(q)
    await readsTogether(q, 0, (name) => shot(q.page, name))
    await faultless(q)
    await q.close()
    served.stop()
  })

  // All kinds of finding, among them those that no program shows in a few seconds.
  await check('every rule: from its finding to its evidence', async () => {
    const q = await open(browser, sickRules.url + '#/findings?r=0')
    await each([...sickRules.says.entries()], ([r, says]) => walkRule(q, r, says))
    await q.close()
  })

  await check('it fits a telephone and a wall', async () => {
    for (const [name, width, height] of [['360', 360, 740], ['4k', 3840, 2160]]) {
      const q = await open(browser, main.url + '#/findings?r=0', { viewport: { width, height } })
      await ready(q)
      await each(await screenLinks(q.page), async (link) => {
        await visit(q, link.slice(2))
        if (name === '4k') await settled(q.page, 400) // eight million pixels are drawn without a graphics card
        await shot(q.page, `${screenOf(link)}-${name}`)
        const wide = await q.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        must(wide <= 1, `${link} is ${wide} px wider than ${width}`)
      })
      await faultless(q)
      await q.close()
    }
  })

  await walksTheFleet(browser, dir, Object.assign(shot, { path: (name) => join(shots, name + '.png') }))
})()

// The kinds that were walked in recordings, which have a timeline: the first of each is enough.
const recorded = new Set()

for (const { r, name } of runs) {
  await check(`${name}: from each finding to its evidence`, async () => {
    await visit(p, `findings?r=${r}`)
    await shot(p.page, `findings-${name}`)
    const rules = await p.page.$$eval('.finding', (all) => all.map((f) => f.dataset.rule))
    must(name === 'healthy' || rules.length > 0, 'no finding')
    await each([...rules.entries()], async ([i, rule]) => {
      if (recorded.has(rule)) return
      recorded.add(rule)
      await walkCard(p, rule, r, i + 1)
    })
    await faultless(p)
  })
}
console.log(`walked in recordings: findings of ${recorded.size} kinds: ${[...recorded].sort().join(' ')}`)

for (const theme of ['light', 'dark']) {
  for (const language of ['en', 'zh']) {
    await check(`every screen, ${theme}, ${language}`, async () => {
      await visit(p, 'findings?r=0')
      await choose(p.page, theme, language)
      const links = await screenLinks(p.page)
      must(links.length >= 6, `only ${links.length} screens: ${links}`)
      await each(links, async (link) => {
        await visit(p, link.slice(2))
        if (screenOf(link) !== 'compare') await shows(p.page, link)
        await shot(p.page, `${screenOf(link)}-${theme}-${language}`)
        const found = await axeFinds(p.page)
        must(found.length === 0, () => `axe on ${link}:\n${found.join('\n')}`)
        const text = await p.page.evaluate(() => document.querySelector('header').textContent)
        must(/\p{Script=Han}/u.test(text) === (language === 'zh'), `the language of the header: ${text}`)
      })
      await faultless(p)
    })
  }
}
await check('the theme and the language as at first', () => choose(p.page, 'light', 'en'))

async function choose(page, theme, language) {
  for (let i = 0; i < 3 && (await page.evaluate(() => localStorage.getItem('gowhy.theme'))) !== theme; i++) await page.click('#theme')
  equal(await page.evaluate(() => document.documentElement.dataset.theme), theme, 'the theme')
  if ((await page.evaluate(() => document.documentElement.lang)).startsWith('zh') !== (language === 'zh')) await page.click('#lang')
  await settled(page)
}

for (const [what, use] of [
  ['saved results: rounds, curve, comparison', (shot) => readsResults(p, saved, shot)],
  ['two saved results beside each other', (shot) => comparesResults(p, saved, shot)],
  ['wake-ups are followed, to and fro', (shot) => followsWakeUps(p, runCalled('hotmutex'), shot)],
  ['kernel samples: a click, a window, the flame graph', sampled],
  ['the index of findings, their keys, and the palette', (shot) => goesAnywhere(p, runCalled('oversubscribed'), shot)],
  ['a lock: who holds it, who waits', (shot) => seesWhoHolds(p, runCalled('hotmutex'), shot)],
  ['a window: its note, its flame graph, a menu, the source', (shot) => looksIntoAWindow(p, runCalled('hotmutex'), shot)],
  ['a mark is dismissed', () => dismissesAMark(p, runCalled('hotmutex'))],
  ['steps in time are taken back', () => undoes(p, runCalled('hotmutex'))],
  ['the utilization of windows', (shot) => readsUtilization(p, runCalled('allocchurn'), shot)],
  ['memory: its account, over time', (shot) => readsMemory(p, runCalled('allocchurn'), shot)],
  ['views of the flame graph', (shot) => turnsTheFlameGraph(p, runCalled('allocchurn'), shot)],
  ['goroutines by group, in order, with all columns', (shot) => readsGoroutines(p, runCalled('oversubscribed'), shot)],
]) {
  await check(what, async () => {
    await use((name) => shot(p.page, 'use-' + name))
    const found = await axeFinds(p.page)
    must(found.length === 0, () => `axe:\n${found.join('\n')}`)
    await faultless(p)
  })
}

// sampled looks at the samples of the pool's recording, or of another one where the kernel
// took too few of a kind.
function sampled(shot) {
  return oneOf('the kernel samples', async (tries) => {
    if (tries === 1) return readsKernelSamples(p, runCalled('filepool'), shot)
    const served = await view(gowhy, [await filepool(gowhy, dir, `filepool-${tries}.gowhy`)])
    const q = await open(browser, served.url + '#/findings?r=0')
    try {
      await ready(q)
      await readsKernelSamples(q, 0, shot)
      await faultless(q)
    } finally {
      await q.close()
      served.stop()
    }
  })
}

await check('tasks, their regions and log lines', async () => {
  const q = await open(browser, hurt.url + '#/tasks?r=0')
  await ready(q)
  await shows(q.page, 'tasks')
  await shot(q.page, 'tasks-hostile')
  await looksIntoTasks(q, 0, (name) => shot(q.page, 'use-' + name))
  await faultless(q)
  await q.close()
})

for (const [name, server, r] of [['filepool', main, runCalled('filepool')], ['net/http benchmark', http, 0]]) {
  await check(`${name}: from a finding to its goroutines in two clicks`, async () => {
    const q = await open(browser, `${server.url}#/findings?r=${r}`)
    await ready(q)
    await shot(q.page, 'findings-' + name.replace(/\W/g, '-'))
    const first = q.page.locator('.finding').first()
    await first.waitFor()
    const link = first.locator('a[href*="#/goroutines"]').first()
    if (await link.count() > 0) {
      await link.click()
    } else {
      await first.locator('.finding-body a').first().click()
      await settled(q.page)
      await q.page.locator('a[href*="#/goroutines"]').first().click()
    }
    await settled(q.page)
    equal(screenOf(await q.page.evaluate(() => location.hash)), 'goroutines', 'the screen')
    const rows = await q.page.locator('[role=grid] [role=rowgroup] [role=row]').count()
    must(rows > 1, 'no goroutine is listed')
    await shot(q.page, 'goroutines-' + name.replace(/\W/g, '-'))
    await faultless(q)
    await q.close()
  })
}

await check('keys: help, screens, search, moving in time', async () => {
  await visit(p, 'findings?r=0')
  await p.page.keyboard.press('?')
  await p.page.locator('dialog[open] kbd').first().waitFor()
  await shot(p.page, 'help')
  await p.page.keyboard.press('Escape')
  await until('the help to close', async () => (await p.page.locator('dialog[open]').count()) === 0)
  await p.page.keyboard.press('2')
  await settled(p.page)
  equal(screenOf(await p.page.evaluate(() => location.hash)), 'timeline', 'the screen of key 2')
  await p.page.keyboard.press('?')
  await p.page.locator('dialog[open] kbd').first().waitFor()
  const told = (await p.page.locator('dialog[open] kbd').allInnerTexts()).map((k) => k.toUpperCase())
  for (const key of ['W', 'A', 'S', 'D', 'F', '/', '.', ',', '[', ']', '?']) must(told.includes(key), `the help tells of ${key}: ${told}`)
  await shot(p.page, 'help-timeline')
  await p.page.keyboard.press('Escape')
  await until('the help to close', async () => (await p.page.locator('dialog[open]').count()) === 0)
  const span = () => p.page.evaluate(() => {
    const q = new URLSearchParams(location.hash.split('?')[1])
    return [Number(q.get('from')), Number(q.get('to'))]
  })
  const press = async (key, times) => {
    const before = (await span()).join()
    for (let i = 0; i < times; i++) await p.page.keyboard.press(key)
    await until(`the window after ${key}`, async () => (await span()).join() !== before)
    await written(p.page)
    return span()
  }
  const wide = (await span())[1] || Infinity
  const near = await press('w', 4)
  must(near[1] > near[0] && near[1] - near[0] < wide, `W zooms in: ${near}`)
  const right = await press('d', 2)
  must(right[0] > near[0], `D moves on: ${near} to ${right}`)
  const left = await press('a', 1)
  must(left[0] < right[0], `A moves back: ${right} to ${left}`)
  const far = await press('s', 1)
  must(far[1] - far[0] > left[1] - left[0], `S zooms out: ${left} to ${far}`)
  await p.page.keyboard.press('/')
  await until('/ to lead to the search', () => p.page.evaluate(() => document.activeElement?.tagName === 'INPUT'))
  await p.page.keyboard.type('wasd?2')
  await p.page.waitForTimeout(100)
  equal(screenOf(await p.page.evaluate(() => location.hash)), 'timeline', 'keys typed into a field stay in it')
  await p.page.keyboard.press('Escape')
  await faultless(p)
})

await check('the keyboard alone: skip link, focus after a screen, copying', async () => {
  const q = await open(browser, main.url + '#/findings?r=0', { permissions: ['clipboard-read', 'clipboard-write'] })
  await ready(q)
  const focused = () => q.page.evaluate(() => document.activeElement?.id || document.activeElement?.className || document.activeElement?.tagName)
  await q.page.keyboard.press('Tab')
  equal(await focused(), 'skip', 'the first stop')
  await shot(q.page, 'skip-link')
  await q.page.keyboard.press('Enter')
  equal(await focused(), 'main', 'where the skip link leads')
  equal(await q.page.evaluate(() => location.hash), '#/findings?r=0', 'the address after skipping')
  const command = q.page.locator('.finding .command').first()
  await command.locator('.copy').focus()
  await q.page.keyboard.press('Enter')
  const words = await command.locator('code').innerText()
  await until('what was copied', async () => (await q.page.evaluate(() => navigator.clipboard.readText())) === words)
  await q.page.keyboard.press('4')
  await settled(q.page)
  equal(await focused(), 'main', 'the focus after the screen that had it is gone')
  await until('the new screen to be said', async () => (await q.page.locator('[aria-live=polite]').allInnerTexts()).includes('Goroutines'))
  await faultless(q)
  await q.close()
})

await check('the address is the whole state', async () => {
  await each(['findings?open=x1,fine&r=0', 'timeline?from=500000000&r=0&to=900000000', 'flame?r=0', 'goroutines?r=0', 'runtime?r=0', 'sources?r=0', 'compare?r=0'], async (place) => {
    await visit(p, place)
    await written(p.page)
    const before = await resting(`${place} to be drawn`, () => seen(p.page))
    await p.page.reload()
    await ready(p)
    let after
    const same = async () => {
      after = await seen(p.page)
      return ['hash', 'text', 'pictures'].every((k) => after[k] === before[k])
    }
    await until('', same).catch(() => {}) // what differs then is said here
    equal(after.hash, before.hash, 'the address')
    equal(after.text, before.text, `the words of ${place}`)
    must(after.pictures === before.pictures, `the pictures of ${place} differ after a reload`)
  })
  await faultless(p)
})

// seen is what the page shows: its words and its pictures.
function seen(page) {
  return page.evaluate(() => ({
    hash: location.hash,
    text: document.querySelector('main').innerText,
    pictures: [...document.querySelectorAll('main canvas')].map((c) => c.toDataURL()).join(),
  }))
}

await check('addresses that lead nowhere say so', async () => {
  for (const place of ['findings?r=99', 'nonsense', 'timeline?r=-1&from=x&to=%00', 'flame?kind=nonsense', 'goroutines?group=nobody&sort=nothing', 'timeline?from=9e99&to=1']) {
    await p.page.evaluate((to) => (location.hash = '#/' + to), place)
    await settled(p.page)
    must((await p.page.locator('main').innerText()).trim() !== '', `${place} shows nothing at all`)
    const broken = await p.page.locator('.state-failed').allInnerTexts()
    must(!broken.join().includes('stopped working'), `${place}: ${broken}`)
  }
  p.faults.splice(0, p.faults.length, ...p.faults.filter((f) => !/^4\d\d /.test(f))) // that there is no such thing
  await faultless(p)
})

await check('a page without runs says what to do', async () => {
  const q = await open(browser, nothing.url)
  await shot(q.page, 'welcome')
  must((await q.page.locator('.command').count()) >= 3, 'no commands to copy')
  const found = await axeFinds(q.page)
  must(found.length === 0, () => found.join('\n'))
  await faultless(q)
  await q.close()
})

await check('files that are dropped are opened, and others refused with words', async () => {
  const q = await open(browser, nothing.url)
  await q.page.setInputFiles('input[type=file]', sick[0])
  await q.page.locator('.verdict').waitFor({ timeout: 60_000 })
  await settled(q.page)
  await shot(q.page, 'dropped')
  await takesDroppedFile(q, bench[1])
  await until('the run that was dropped', async () => (await q.page.locator('.head-run option').count()) === 2)
  await q.page.evaluate(() => {
    const files = new DataTransfer()
    files.items.add(new File(['no recording at all'], 'notes <b>.txt'))
    const drop = (type) => window.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }))
    drop('dragenter')
    drop('drop')
  })
  const message = q.page.locator('.message[role=alert]')
  await message.waitFor()
  must((await message.innerText()).includes('notes <b>.txt'), 'the file is named')
  await shot(q.page, 'refused')
  q.faults.splice(0, q.faults.length, ...q.faults.filter((f) => !/^4\d\d .*api\/upload/.test(f))) // the refusal itself
  await faultless(q)
  await q.close()
})

for (const [name, server] of [['trace and profile', hurt], ['crafted profile', crafted]]) {
  await check(`hostile names are text: ${name}`, async () => {
    const q = await open(browser, server.url + '#/findings?r=0')
    await ready(q)
    const links = await screenLinks(q.page)
    const seenHTML = []
    for (const link of links) {
      await visit(q, link.slice(2))
      await shot(q.page, `hostile-${name.split(' ')[0]}-${screenOf(link)}`)
      seenHTML.push(await q.page.evaluate(() => document.body.textContent.includes('<img src=x onerror')))
      const wide = await q.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      must(wide <= 1, `${link} is ${wide} px wider than the window`)
      equal(await q.page.locator('main img, main script, main b[onclick]').count(), 0, `elements made by names on ${link}`)
    }
    must(seenHTML.includes(true), 'the hostile name is nowhere to be seen')
    await q.page.evaluate(() => [...document.querySelectorAll('[title], main *')].slice(0, 500).forEach((e) => e.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }))))
    await faultless(q)
    await q.close()
  })
}

await check('a report file shows the same from a disk', async () => {
  const file = join(dir, 'report.html')
  await run(gowhy, ['report', sick[0], '-o', file])
  const q = await open(browser, pathToFileURL(file).href + '#/findings?r=0')
  const words = () => document.querySelector('.findings').innerText
  await visit(p, 'findings?r=0')
  equal(await q.page.evaluate(words), await p.page.evaluate(words), 'the words of the findings')
  for (const link of await screenLinks(q.page)) {
    await visit(q, link.slice(2))
    await shows(q.page, link)
    await shot(q.page, `report-${screenOf(link)}`)
  }
  await visit(q, 'findings?r=0')
  await q.page.locator('.finding-body').first().waitFor()
  const links = await q.page.$$eval('.finding-body > .finding-row a', (as) => as.map((a) => a.getAttribute('href')))
  must(links.length > 0, 'no finding leads anywhere')
  for (const link of new Set(links)) {
    await visit(q, link.slice(2))
    await shows(q.page, link)
  }
  await q.page.emulateMedia({ media: 'print' })
  await visit(q, 'findings?r=0')
  await shot(q.page, 'report-print')
  await faultless(q)
  await q.close()
})

await check('a screen fetches its own code, and says so when it does not come', async () => {
  const q = await open(browser, main.url + '#/findings?r=0')
  await ready(q)
  const scripts = () => q.page.evaluate(() => performance.getEntriesByType('resource').map((e) => e.name.split('/').pop()).filter((n) => n.endsWith('.js')))
  must((await scripts()).includes('findings.js'), 'the code of the findings')
  for (const other of ['timeline.js', 'flame.js', 'runtime.js', 'zh.js']) must(!(await scripts()).includes(other), `${other} was fetched for the findings`)
  await q.page.hover('.head-nav a[href^="#/sources"]')
  await until('the code of a screen that is pointed at', async () => (await scripts()).includes('sources.js'))
  await faultless(q)

  await q.context.route('**/flame.js', (r) => r.abort())
  await q.page.click('.head-nav a[href^="#/flame"]')
  await q.page.locator('main .state-failed').waitFor()
  await shot(q.page, 'no-code')
  await q.context.unroute('**/flame.js')
  await q.page.click('main .state-failed button')
  await q.page.locator('.flame').first().waitFor()
  await settled(q.page)
  must((await q.page.evaluate(() => location.hash)).startsWith('#/flame'), 'the place after trying again')

  await q.context.route('**/zh.js', (r) => r.abort())
  await q.page.click('#lang')
  await q.page.locator('.message[role=alert]').waitFor()
  equal(await q.page.evaluate(() => document.documentElement.lang), 'en', 'the language that the page keeps')
  await shot(q.page, 'no-language')
  await q.page.click('.message button')
  await q.context.unroute('**/zh.js')
  await q.close()
})

await check('a server that ended is told of, with what to do', async () => {
  const q = await open(browser, crafted.url + '#/findings?r=0')
  await ready(q)
  await crafted.stop()
  await q.page.evaluate(() => (location.hash = '#/sources?r=0'))
  await q.page.locator('.state-failed').waitFor()
  must((await q.page.locator('.state-failed').innerText()).includes('gowhy view'), 'what to do')
  await shot(q.page, 'gone')
  await q.close()
})

await watchesAProgram(browser, gowhy, dir, Object.assign(shot, { path: (name) => join(shots, name + '.png') }))
await besides
await check('every rule was walked', async () => {
  const left = (await catalogue(gowhy)).filter((rule) => !walked.rules.has(rule))
  must(left.length === 0, () => `not walked: ${left.join(' ')}`)
})
console.log(`walked: ${walked.rules.size} rules by their fixtures; with the recordings ${walked.findings} findings with ${walked.facts} facts, `
  + `${walked.places} places, ${walked.numbers} sums, ${walked.symptoms} facts of symptoms and ${walked.more} more: ${walked.clicks} places clicked and looked at`)

await browser.close()
for (const s of [main, http, hurt, crafted, nothing, sickRules]) s.stop()
process.exitCode = summary()
