// The pictures of the documents, from a real run: a demonstration is recorded as it is
// and fixed, and its screens and the terminal's report are taken, light and dark.
//
//   node e2e/pictures.mjs       GOWHY=… to take them of a binary, CHROMIUM=… with a browser
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { faultless, launch, open, settled, view, visit } from './browser.mjs'
import { recordedWell, repository } from './recordings.mjs'
import { until } from './harness.mjs'

const run = promisify(execFile)
const images = join(repository, 'docs', 'images')
mkdirSync(images, { recursive: true })
// In the module, whose sources are shown.
const dir = mkdtempSync(join(repository, 'ui', '.pictures-'))
process.once('exit', () => rmSync(dir, { recursive: true, force: true }))

const SCREENS = {
  findings: 'findings?r=0', timeline: 'timeline?r=0', flame: 'flame?r=0', source: 'flame?r=0&kind=cpu&src=1&focus=github.com%2Fgowhy%2Fgowhy%2Finternal%2Fshow%2Fdemo.compute',
  runtime: 'runtime?r=0', goroutines: 'goroutines?r=0', compare: 'compare?a=0&b=1',
}
const WIDTHS = { 1440: 900, 1024: 768, 390: 844 }

// Built without the paths of this machine, which would be in the pictures.
const gowhy = process.env.GOWHY ?? join(dir, 'gowhy')
if (!process.env.GOWHY) await run('go', ['build', '-trimpath', '-o', gowhy, './cmd/gowhy'], { cwd: repository })
await undisturbed('demo.gowhy', () => run(gowhy, ['demo', '--no-proof', '-o', 'demo.gowhy'], { cwd: dir }))
await undisturbed('fixed.gowhy', () => run(gowhy, ['record', '--no-diagnose', '-o', 'fixed.gowhy', '--', gowhy, 'demo', 'run', 'hotmutex', '--fixed'], { cwd: dir }))
const said = await run(gowhy, ['demo.gowhy'], { cwd: dir, env: { ...process.env, CLICOLOR_FORCE: '1', NO_COLOR: '', COLUMNS: '80' } })

const browser = await launch()
const server = await view(gowhy, ['demo.gowhy', 'fixed.gowhy'], dir)
for (const theme of ['light', 'dark']) {
  for (const [width, height] of Object.entries(WIDTHS)) {
    const p = await open(browser, server.url + '#/findings?r=0', { viewport: { width: +width, height }, colorScheme: theme })
    await until('both runs to be read', () => p.page.evaluate(async () => {
      const s = await (await fetch('api/session')).json()
      return s.loading === '' && s.runs.length === 2 && s.runs.every((r) => !r.loading)
    }), 60_000)
    for (const [name, place] of Object.entries(SCREENS)) {
      await visit(p, place)
      await settled(p.page)
      const empty = await p.page.evaluate(() => document.querySelector('main .state-empty, main .state-failed')?.textContent)
      if (empty) throw new Error(`${place} shows nothing: ${empty}`)
      const file = `${name}-${theme}${+width === 1440 ? '' : '-' + width}.png`
      if (+width === 1440 || name === 'findings') await take(p.page, file)
    }
    await faultless(p)
    await p.close()
  }
  const context = await browser.newContext({ viewport: { width: 760, height: 600 }, deviceScaleFactor: 1.5 })
  const page = await context.newPage()
  await page.setContent(terminal('$ gowhy demo.gowhy\n' + said.stdout.replaceAll(join(dir, 'gowhy'), 'gowhy'), theme))
  await take(await page.$('pre'), `terminal-${theme}.png`)
  await context.close()
}
await browser.close()
server.stop()

/** Records until nothing beside the program disturbed it: pictures are looked at for years. */
async function undisturbed(file, record) {
  const fault = (d) => [...d.warnings, ...d.findings.map((f) => f.rule).filter((r) => ['neighbour', 'starved', 'throttled', 'overquota'].includes(r))].join('; ')
  const wrong = await recordedWell(gowhy, join(dir, file), record, fault, 5)
  if (wrong !== '') throw new Error(`${file} was disturbed five times: ${wrong}`)
}

/** Pictures with many colours are brought to 256, where there is a tool for it. */
async function take(what, file) {
  const path = join(images, file)
  await what.screenshot({ path })
  if (statSync(path).size > 100_000) await run('pngquant', ['--force', '--skip-if-larger', '--output', path, '256', path]).catch(() => undefined)
  console.log(`${file}: ${Math.round(statSync(path).size / 1024)} KB`)
}

/** What a terminal shows: its colours are those of the page. */
function terminal(text, theme) {
  const c = theme === 'light'
    ? { bg: '#ffffff', fg: '#1b1d20', 31: '#ae231c', 32: '#17683a', 33: '#855000', 34: '#0a5aa8', 36: '#0a5aa8', dim: '#5a5e66' }
    : { bg: '#131517', fg: '#e7e8ea', 31: '#ff8d84', 32: '#63c78e', 33: '#e3ac55', 34: '#74b3f2', 36: '#74b3f2', dim: '#a2a8b0' }
  const escaped = text.replace(/[&<>]/g, (s) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[s])
  const html = escaped.replace(/\u001b\[([\d;]*)m/g, (_, codes) => {
    const styles = codes.split(';').map((n) => (n === '1' ? 'font-weight:bold' : n === '2' ? `color:${c.dim}` : c[n] ? `color:${c[n]}` : ''))
    return styles.some((s) => s) ? `<span style="${styles.join(';')}">` : '</span>'
  })
  return `<body style="margin:0"><pre style="margin:0;padding:16px;display:inline-block;background:${c.bg};color:${c.fg};font:13px/1.4 'DejaVu Sans Mono',monospace">${html}</pre>`
}
