// From each kind of finding to its evidence, by clicks, and back. Recordings show
// some twenty kinds; all of them are in the rules' own fixtures, which a test of
// package rules serves by the server that users have, one run for each rule.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { faultless, serve } from './browser.mjs'
import { each, equal, must } from './harness.mjs'
import { landed } from './landing.mjs'
import { repository } from './recordings.mjs'

const run = promisify(execFile)

/** Starts the page of the rules' sick cases; says is what each rule says in its own. */
export async function pageOfRules(dir) {
  const binary = join(dir, 'rules.test')
  await run('go', ['test', '-c', '-o', binary, './internal/judge/rules'], { cwd: repository })
  const server = await serve(binary, ['-test.run', '^TestServePage$', '-serve'], join(repository, 'internal/judge/rules'))
  const says = server.said().split('\n').filter((l) => l.startsWith('{')).map((l) => JSON.parse(l))
  return { ...server, says }
}

/** The rules that gowhy has, by its own list. */
export async function catalogue(gowhy) {
  const { stdout } = await run(gowhy, ['explain'])
  const names = [...stdout.matchAll(/^([a-z]+)  +\S/gm)].map((m) => m[1])
  must(names.length > 0, 'gowhy explain lists no rule')
  return names
}

/** What was walked: the rules by name, and of the others how many. */
export const walked = { rules: new Set(), findings: 0, facts: 0, places: 0, numbers: 0, more: 0, symptoms: 0, clicks: 0 }

/** Walks from what one rule says to all that it leads to, and back from each. */
export async function walkRule(p, r, says) {
  const rule = says.rule
  const place = `#/findings?r=${r}`
  await p.page.evaluate((to) => (location.hash = to), place)
  await shownAll(p.page, rule, says)
  const cards = await p.page.$$eval('.finding', (all, rule) => all.flatMap((f, i) => (f.dataset.rule === rule ? [i + 1] : [])), rule)
  equal(cards.length, says.findings, `${rule}: cards`)
  for (const n of cards) await walkCard(p, rule, r, n)
  await faultless(p)
  walked.rules.add(rule)
}

// shownAll waits until the page says what the rule says.
async function shownAll(page, rule, says) {
  const lacking = await page.evaluate(async ({ sentences, commands, title }) => {
    // The verdict ends a sentence in how many more findings there are.
    const plain = (s) => s.replaceAll('`', '').replace(/\s+/g, ' ').trim()
    const end = performance.now() + 60_000
    for (;;) {
      const text = plain(document.querySelector('main .findings')?.textContent ?? '')
      const offered = [...document.querySelectorAll('main .command code')].map((c) => c.textContent)
      const left = document.title.startsWith(title + ' ')
        ? [...sentences.filter((s) => !text.includes(plain(s).replace(/\.$/, ''))), ...commands.filter((c) => !offered.includes(c))]
        : ['the run ' + title]
      if (left.length === 0 || performance.now() > end) return left
      await new Promise((r) => requestAnimationFrame(r))
    }
  }, { sentences: says.sentences, commands: says.commands, title: rule })
  must(lacking.length === 0, () => `${rule}: the page does not say: ${lacking.join('\n')}`)
}

/** Walks from one finding, the nth of a run, to all that it leads to, and back from each. */
export async function walkCard(p, rule, r, n) {
  const card = `#finding-${n}`
  // All findings but the first, methods and symptoms are folded: open, as a click leaves them.
  const open = [...(n > 1 ? [`f${n}`] : []), `m${n}`, `s${n}`].join('%2C')
  await p.page.evaluate((to) => (location.hash = to), `#/findings?open=${open}&r=${r}`)
  await p.page.locator(`${card} .finding-body`).waitFor()
  const { links, faults } = await p.page.evaluate(linksOf, { card, n, r })
  must(faults.length === 0, () => `${rule}: ${faults.join('\n')}`)
  must(links.length > 0, `${rule}: nothing leads to its evidence`)
  walked.findings++
  for (const l of links) walked[l.kind]++
  const at = await p.page.evaluate(() => location.hash)
  // A place that several numbers lead to is gone to once, and for each function that it must show;
  // of places that are alike to the page, the first and the last.
  const once = [...new Map(links.map((l) => [l.href + ' ' + l.name, l])).values()]
  const ends = new Set()
  for (const all of [once, once.toReversed()]) {
    for (const l of new Map(all.map((l) => [alikeBy(l), l])).values()) ends.add(l)
  }
  await each([...ends], async (l) => {
    await p.page.locator(`${card} a[href="${l.href.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"]`).nth(l.nth).click()
    try {
      await landed(p.page, l.href, `${rule}: ${l.words}`, l.name)
      walked.clicks++
    } finally {
      await p.page.goBack()
      await p.page.locator(`${card} .finding-body`).waitFor()
    }
    equal(await p.page.evaluate(() => location.hash), at, `${rule}: the address after going back`)
  })
}

// alikeBy is the same for links that differ in what is shown and not in how: what they are about, the
// screen, and the names of what is asked of it.
function alikeBy({ kind, href }) {
  const [screen, rest = ''] = href.split('?')
  return [kind, screen, ...[...new URLSearchParams(rest).keys()].sort()].join(' ')
}

// linksOf runs in the page: all links of a card, what each is about, and what the
// server's answer has that the card has not.
async function linksOf({ card, n, r }) {
  const box = document.querySelector(card)
  const faults = []
  const counted = {}
  const links = [...box.querySelectorAll('a[href^="#/"]')].map((a) => {
    const href = a.getAttribute('href')
    const nth = counted[href] ?? 0
    counted[href] = nth + 1
    const kind = a.closest('.symptom') ? 'symptoms' : a.closest('table') ? 'facts' : a.closest('.where') ? 'places' : a.closest('.finding-more') ? 'more' : 'numbers'
    const words = (a.closest('tr')?.querySelector('th')?.textContent ?? '') + ' ' + a.textContent
    const name = kind === 'places' ? a.closest('li').querySelector('.where-func').textContent : ''
    return { href, nth, kind, words: words.trim(), name }
  })
  const key = (link) => {
    const [screen, rest = ''] = link.replace(/^#\//, '').split('?')
    const q = new URLSearchParams(rest)
    q.set('r', String(r))
    q.sort()
    return screen + '?' + q
  }
  const answer = await (await fetch('api/findings?r=' + r)).json()
  const f = answer.diagnosis.findings[n - 1]
  const l = answer.links[n - 1]
  const there = new Set(links.map((x) => key(x.href)))
  const want = (what, to) => {
    if (!to) faults.push(`${what} leads nowhere`)
    else if (!there.has(key(to))) faults.push(`${what} leads to ${to}, and the card does not`)
  }
  f.evidence.forEach((e, i) => want('fact ' + e.name, l.evidence[i].to))
  f.where.forEach((w, i) => want('place ' + w.function, l.where[i]))
  for (const m of l.more) want(m.title, m.to)
  for (const number of ['cost', 'bound']) if ((f[number].what ?? f[number].method) !== '' && (number === 'cost' || f.bound.value !== 0)) want('the ' + number, l[number].to)
  ;(f.symptoms ?? []).forEach((s, j) => s.evidence.forEach((e, i) => want(`fact ${e.name} of ${s.rule}`, l.symptoms[j].evidence[i].to)))
  const facts = links.filter((x) => x.kind === 'facts').length
  if (facts !== f.evidence.length) faults.push(`${facts} of ${f.evidence.length} facts can be clicked`)
  return { links, faults }
}
