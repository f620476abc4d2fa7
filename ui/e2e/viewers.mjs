// From the page to speedscope's own: a tab of another origin, which shows the
// profile that was chosen, asks nobody but its own server, and can read nothing of
// the page that it was opened from.
import { open } from './browser.mjs'
import { equal, must, until } from './harness.mjs'

/** What speedscope tries for modules of Node, and goes on without. */
const known = 'script-src: eval'

/** Opens a profile in speedscope as a reader does, and finds a function there. */
export async function opensInSpeedscope(browser, url, { r, profile, name }, shot) {
  const q = await open(browser, `${url}#/sources?r=${r}`)
  const asked = []
  const said = []
  q.context.on('request', (x) => asked.push(x.url()))
  q.context.on('console', (m) => {
    if (m.type() === 'error') said.push(m.text())
  })
  q.context.on('weberror', (e) => said.push(String(e.error())))
  const tools = q.page.locator('section:has(> .src-tools)')
  await tools.locator('select').selectOption(profile)
  const opened = q.context.waitForEvent('page')
  await tools.locator('a', { hasText: 'speedscope' }).click()
  const tab = await opened
  const refused = []
  tab.on('dialog', (d) => {
    refused.push(d.message())
    void d.dismiss()
  })
  try {
    await until('the profile to be shown', () => tab.title().then((title) => title.includes('-' + profile)), 30_000)
    must(refused.length === 0, () => `it said: ${refused}`)
    await until('a picture', () => tab.locator('canvas').count())
    await tab.waitForTimeout(500) // it draws when it has time, and says nothing then
    await shot(tab, `speedscope-${profile}`)
    await tab.getByText('Sandwich').click() // its table of functions, of which it makes those that are in sight
    await tab.getByText('Total', { exact: true }).click()
    await until(`the name ${name}`, () => tab.evaluate((n) => document.body.textContent.includes(n), name))
    await shot(tab, `speedscope-${profile}-functions`)
    await alone(tab, url, asked, said)
  } finally {
    await q.close()
  }
}

// alone holds that the tab asked for nothing of others, and cannot.
async function alone(tab, url, asked, said) {
  const there = new URL(tab.url()).origin
  must(there !== new URL(url).origin, 'it shares the origin of the page')
  const of = (origin) => asked.filter((to) => to.startsWith(origin + '/')).length
  must(of(there) > 2, () => `it asked for ${asked}`)
  equal(asked.length, of(there) + of(new URL(url).origin), `requests to this machine's two servers, of ${asked}`)
  must(said.length === 0, () => said.join('\n'))
  const held = await tab.evaluate(() => window.violations)
  must(held.every((v) => v.startsWith(known)), () => held.join('\n'))
  must(await tab.evaluate(() => window.opener === null && !('owned' in window)), 'it has hold of the page, or a name ran as code')
  equal(await tab.locator('body img, body script[src^="data:"], b[onclick]').count(), 0, 'elements made by names')
  for (const to of [url + 'api/session', 'http://127.0.0.1:9/']) {
    equal(await tab.evaluate((to) => fetch(to).then((r) => r.status, () => 'held off'), to), 'held off', `what it gets of ${to}`)
  }
}
