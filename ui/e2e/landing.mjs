// What a link leads to is looked at where it leads: not that there is something, but
// that what the link is about is shown, in sight, and in the state that it asks for.
import { must } from './harness.mjs'

/** How long the page has to show what a link is about, ms: it is reached only where it never does. */
const PATIENCE = 60_000

/**
 * Waits until the page shows what a link of it is about, and fails with what is
 * missing. `name` is what has to stand there by its name, a function that was clicked.
 */
export async function landed(page, link, what, name = '') {
  const fault = await page.evaluate(arrive, { link, name, patience: PATIENCE })
  must(fault === '', () => `${what}: ${link}: ${fault}`)
}

// arrive runs in the page. It looks again with each frame: there is nothing to be
// told of when all of a screen is there.
async function arrive({ link, name, patience }) {
  const [screen, rest = ''] = link.replace(/^#\//, '').split('?')
  const asked = new URLSearchParams(rest)
  const main = document.querySelector('main')
  const PALE = 8 // how far from grey the frames are that a search leaves aside
  const each = (selector) => [...main.querySelectorAll(selector)]
  const one = (selector) => main.querySelector(selector)

  /** A part that the reader sees without moving anything. */
  const inSight = (el) => {
    const r = el?.getBoundingClientRect()
    return !!r && r.width > 0 && r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth
  }
  const text = () => main.textContent ?? ''

  /** Whether something other than greys is drawn: lines and frames have colours, axes and grids none. */
  const coloured = (canvas, least = 40) => {
    if (!canvas || canvas.width === 0 || canvas.height === 0) return false
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    let seen = 0
    for (let i = 0; i < data.length; i += 4) {
      const spread = Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2])
      if (data[i + 3] > 100 && spread > least && ++seen > 4) return true
    }
    return false
  }

  const shown = {
    goroutines() {
      const group = asked.get('group')
      const rows = each('[role=grid] .table-body [role=row]')
      if (group) {
        if (one('.go-group')?.textContent !== group) return `the group is ${one('.go-group')?.textContent}`
        if (!inSight(one('.go-group'))) return 'the group is out of sight'
        if (!one('.go-facts')) return 'nothing is told of the group'
      }
      if (asked.has('col') && !each('.table-marked').some(inSight)) return 'no cell is marked in sight'
      // Single goroutines may not have been kept: then their group's account is all there is.
      if (rows.length === 0 && !group) return 'no goroutine is listed'
      return ''
    },
    flame() {
      const kind = asked.get('kind')
      const query = asked.get('q')
      if (kind && one('.flame-bar select')?.value !== kind) return `the tree is ${one('.flame-bar select')?.value}`
      if (query) {
        if (one('.flame-search input')?.value !== query) return 'what is searched for stands nowhere'
        const found = one('.flame-found')?.textContent ?? ''
        if (!(parseFloat(/([\d.]+)%/.exec(found)?.[1] ?? '') >= 0.1)) return `nothing that can be seen is marked: ${found}`
        const at = one('.flame-frame-name code')?.textContent ?? ''
        if (!at.toLowerCase().includes(query.toLowerCase())) return `the frame that is told of is ${at}`
        if (!inSight(one('.flame-frame-name'))) return 'what is told of the frame is out of sight'
      }
      const fn = asked.get('fn')
      if (fn && one('.flame-halves .flame-frame-name code')?.textContent !== fn) return `told of is ${one('.flame-frame-name code')?.textContent}`
      const canvas = one('canvas.flame-canvas')
      if (!inSight(canvas)) return 'no picture is in sight'
      return coloured(canvas, PALE) ? '' : 'no frame is drawn'
    },
    runtime() {
      const name = asked.get('chart')
      const chart = name ? document.getElementById('chart-' + name) : one('.chart')
      if (!chart) return `there is no chart ${name ?? ''}`
      if (!inSight(chart.querySelector('canvas'))) return 'the chart is out of sight'
      if (name && !chart.classList.contains('chart-flash')) return 'the chart is not pointed at'
      return coloured(chart.querySelector('canvas')) ? '' : 'the chart has no line'
    },
    timeline() {
      const lanes = each('.tl-name')
      const marked = (el) => el.closest('.tl-marked, .tl-pinned') && inSight(el)
      const group = asked.get('g')
      if (group && !lanes.some((el) => el.title.split('\n')[0] === group && marked(el))) return `the lane of ${group} is not marked in sight`
      for (const id of (asked.get('lanes') ?? '').split(',').filter((id) => id !== '')) {
        if (!lanes.some((el) => el.dataset.lane === id && marked(el))) return `the lane ${id} is not pinned in sight`
      }
      if (asked.has('from')) {
        const now = new URLSearchParams(location.hash.split('?')[1])
        for (const end of ['from', 'to']) if (now.get(end) !== asked.get(end)) return `the window is ${now.get('from')} to ${now.get('to')}`
      }
      return each('canvas').some((c) => inSight(c) && coloured(c)) ? '' : 'nothing is drawn'
    },
    standing() {
      return each('.standing-states li').some(inSight) ? '' : 'no state of goroutines is in sight'
    },
    memory() {
      return each('.memory-account tbody td, .memory-ended, .chart canvas').some(inSight) ? '' : 'no row of the account is in sight'
    },
    number() {
      if (!inSight(one('.number-value'))) return 'the number is out of sight'
      return one('.number-origin dd')?.textContent ? '' : 'nothing tells where it is from'
    },
    sources() {
      return each('[role=grid] .table-body [role=row], .src-build dt').some(inSight) ? '' : 'no source is in sight'
    },
  }

  const missing = () => {
    // What is marked is said until it is dismissed.
    if (asked.has('fact') && !inSight(one('.marked'))) return 'nothing says what is marked'
    const at = location.hash
    if (!at.startsWith('#/' + screen)) return `the address is ${at}`
    const broken = one('.state-failed, [role=alert]')
    if (broken) return `it fails: ${broken.textContent}`
    if (document.querySelector('.spinner, main .state[role=status], main [aria-busy=true]')) return 'it is still on its way'
    const empty = one(':scope > .state-empty, .flame > .state-empty')
    if (empty) return `it is empty: ${empty.textContent}`
    if (!shown[screen]) return 'no test knows this screen'
    const fault = shown[screen]()
    if (fault !== '') return fault
    // The list of sources, a group of goroutines, and the time at which something happened
    // stand for a function that has no place of its own.
    const stands = screen === 'sources' || asked.has('group') || (screen === 'runtime' && asked.has('from'))
    return name === '' || stands || text().includes(name) || asked.get('q') === name ? '' : `${name} is nowhere to be seen`
  }

  const end = performance.now() + patience
  for (;;) {
    const fault = missing()
    if (fault === '' || performance.now() > end) return fault
    await new Promise((r) => requestAnimationFrame(r))
  }
}
