// The live page for ten minutes beside a program that changes its behaviour every two
// and a half: findings come and go with it, the page stays in time, and neither it nor
// its server grows. By itself only, for its length:
//
//   node e2e/changes.mjs        GOWHY=… to try a binary, SHOTS=… keeps pictures
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultless, launch, open, serve } from './browser.mjs'
import { check, equal, must, summary, until } from './harness.mjs'
import { illProgram } from './live.mjs'
import { command } from './recordings.mjs'

const TURN = 150_000
const TURNS = ['well', 'ill', 'well', 'ill']
/** A piece of time is recorded for ten seconds, and two of three must agree. */
const PATIENCE = 60_000

const dir = mkdtempSync(join(tmpdir(), 'gowhy-changes-'))
process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
const shots = process.env.SHOTS
if (shots) mkdirSync(shots, { recursive: true })

const browser = await launch()
const gowhy = await command(dir)
const began = Date.now()
const program = await illProgram(dir, ['-habit', 'append', '-turns', `${TURN}ms`, '-time', `${TURN * TURNS.length}ms`])
const server = await serve(gowhy, ['view', '--live', '--no-open', String(program.pid)], dir)
const p = await open(browser, server.url, { viewport: { width: 1440, height: 900 } })
const { page } = p
const devtools = await p.context.newCDPSession(page)

const wrong = () => page.locator('.live-finding-wrong').count()
const heard = () => page.locator('.live-hero .live-heard').innerText()
const endOf = async () => (await page.locator('.live-range').innerText()).match(/to (\d\d):(\d\d):(\d\d)/).slice(1).reduce((s, n) => 60 * s + Number(n), 0)

/** What the page's scripts and the server hold, in bytes. */
async function held() {
  await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  const kb = readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]
  return { page: usedSize, server: 1024 * kb }
}

/** How far the picture's end is behind the clock, in seconds. */
async function behind() {
  const now = new Date()
  const clock = 3600 * now.getHours() + 60 * now.getMinutes() + now.getSeconds()
  return (clock - (await endOf()) + 86_400) % 86_400
}

let worst = 0
const sizes = []
for (const [i, turn] of TURNS.entries()) {
  await check(`changes: turn ${i + 1}, the program is ${turn}`, async () => {
    const [begin, end] = [began + i * TURN, began + (i + 1) * TURN]
    // What went is told beside what is there; only the latter is counted.
    await until(turn === 'ill' ? 'the finding' : 'no finding', async () => (await wrong()) > 0 === (turn === 'ill'), begin + PATIENCE - Date.now())
    if (i > 0) console.log(`      after ${((Date.now() - begin) / 1000).toFixed(0)} s`)
    while (Date.now() < end - 5000) {
      equal((await wrong()) > 0, turn === 'ill', 'whether something is found')
      equal(await heard(), 'live', 'the connection')
      worst = Math.max(worst, await behind())
      await page.waitForTimeout(2000)
    }
    if (shots) await page.screenshot({ fullPage: true, path: join(shots, `changes-${i + 1}.png`) })
    sizes.push(await held())
    await faultless(p)
  })
}
await check('changes: it keeps up, and does not grow without end', () => {
  const mb = (of) => sizes.map((s) => (s[of] / 1e6).toFixed(1)).join(', ')
  console.log(`      at most ${worst} s behind; the page's scripts held ${mb('page')} MB at the end of each turn, the server ${mb('server')} MB`)
  must(worst <= 5, `the picture was ${worst} s behind`)
  must(sizes.at(-1).page < 100e6 && sizes.at(-1).server < 150e6, 'too much')
})
await p.close()
server.stop()
program.stop()
await browser.close()
process.exitCode = summary()
