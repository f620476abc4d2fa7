// The URL is the whole state of the view: #/SCREEN?PARAMS. A place can be sent to
// a colleague, reloaded, and left with the browser's own "back".
//
// Browsers refuse more than about 20 changes of history in a second (Safari 100 in
// 30 seconds), and panning makes 60. So a replaced place holds here at once and
// reaches the address bar when the hand rests.
import { useEffect, useState } from 'preact/hooks'

export interface Place {
  screen: string
  params: URLSearchParams
}

/** What differs from page to page. */
export interface Rules {
  /** The screen that an empty address means. */
  home: string
  /** Takes along to another place what stays as it is here. */
  carry(here: URLSearchParams, to: URLSearchParams): void
}

let rules: Rules = { home: 'findings', carry: carryRun }

/** Has the page's addresses follow other rules than those of runs; before anything is shown. */
export function follow(other: Rules): void {
  rules = other
  present = read()
}

const WRITE_AFTER_MS = 250

let present: Place = read()
let pending: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

/** Reads a link, like "timeline?from=1&to=2"; a leading "#/" is allowed. */
export function parse(link: string): Place {
  const text = link.replace(/^#?\/?/, '')
  const cut = text.indexOf('?')
  const screen = cut < 0 ? text : text.slice(0, cut)
  return {
    screen: /^[a-z]+$/.test(screen) ? screen : rules.home,
    params: new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1)),
  }
}

/** The address of a place, with its parameters in order: one place has one address. */
export function format(p: Place): string {
  const params = new URLSearchParams(p.params)
  params.sort()
  const query = params.toString()
  return '#/' + p.screen + (query === '' ? '' : '?' + query)
}

/** The place that is shown; the component renders again when it changes. */
export function usePlace(): Place {
  const [place, set] = useState(present)
  useEffect(() => {
    const changed = () => set(present)
    changed() // it may have changed between the first picture and now
    listeners.add(changed)
    return () => void listeners.delete(changed)
  }, [])
  return place
}

/** The place that is shown, for who is no component. */
export function here(): Place {
  return present
}

/** A parameter of the present place. */
export function param(name: string): string | null {
  return present.params.get(name)
}

/** Goes to a link. The run stays the same unless the link names one. */
export function go(link: string, o?: { replace?: boolean }): void {
  move(resolve(link), o?.replace ?? false)
}

/** Changes parameters of the present place; null removes one. */
export function setParams(patch: Record<string, string | number | null>, o?: { replace?: boolean }): void {
  const params = new URLSearchParams(present.params)
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) params.delete(name)
    else params.set(name, String(value))
  }
  move({ screen: present.screen, params }, o?.replace ?? false)
}

/** What an <a> needs to lead to a link. */
export function href(link: string): string {
  return format(resolve(link))
}

function resolve(link: string): Place {
  const place = parse(link)
  rules.carry(present.params, place.params)
  return place
}

/** Takes parameters along that a link does not name itself. */
export function carryAll(names: readonly string[], here: URLSearchParams, to: URLSearchParams): void {
  for (const name of names) {
    const value = here.get(name)
    if (value !== null && !to.has(name)) to.set(name, value)
  }
}

function carryRun(here: URLSearchParams, to: URLSearchParams): void {
  // What is marked stays so on every screen of its run, until it is dismissed; who goes
  // from the program that is watched to a recording finds it again.
  carryAll(to.has('r') ? ['pid'] : ['r', 'pid', 'fact'], here, to)
}

function read(): Place {
  return parse(typeof location === 'undefined' ? '' : location.hash)
}

function move(place: Place, replace: boolean): void {
  if (format(place) === format(present)) return
  if (!replace) {
    flush() // what "back" shall lead to
    history.pushState(null, '', format(place))
  } else if (pending === undefined) {
    pending = setTimeout(flush, WRITE_AFTER_MS)
  }
  tell(place)
}

function flush(): void {
  if (pending === undefined) return
  clearTimeout(pending)
  pending = undefined
  history.replaceState(null, '', format(present))
}

function tell(place: Place): void {
  present = place
  for (const listener of [...listeners]) listener()
}

// The reader's own moves: back, forward, a link, an address typed by hand. A
// replaced place that was not written yet is overtaken by them.
function moved(): void {
  clearTimeout(pending)
  pending = undefined
  const place = read()
  if (format(place) !== format(present)) tell(place)
}

if (typeof window !== 'undefined') {
  window.addEventListener('popstate', moved)
  window.addEventListener('hashchange', moved)
  window.addEventListener('pagehide', flush)
}
