// A flame graph in all its views: the picture either way up, one function between its
// callers and its callees, the table of functions.
import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Flame as Answer, Marks } from '../api'
import { toClipboard } from '../data/tsv'
import { editor, editorLink } from '../editor'
import { count, share } from '../format'
import { Copy } from '../parts/copy'
import { say } from '../parts/live'
import type { Entry } from '../parts/menu'
import { Said } from '../parts/said'
import { Empty } from '../parts/states'
import { lang, t, tn } from '../strings'
import { href, setParams } from '../url'
import { NOWHERE } from './bar'
import { useCursor } from './cursor'
import { amount, changeText, placeOf } from './describe'
import { functionTable } from './functions'
import type { Span } from './layout'
import { Path } from './path'
import { Picture, type PictureProps } from './picture'
import { findFocus, markOf, writeSpan, type View } from './place'
import { readQuery, search, type Found } from './search'
import { Swatch } from './swatch'
import { plain } from './text'
import { callees, callers, compared, fromColumns, inverted, KINDS, leftOut, nameOf, without, type Columns, type FrameKind, type Tree } from './tree'
import './views.css'

export interface BodyProps {
  v: View
  data: Answer & Columns
  marks?: Marks | undefined
  params: URLSearchParams
  /** The lines of a function, to stand beside the picture, where they can be had. */
  source?: ((fn: string) => JSX.Element) | undefined
}

/** The tree in the view that the address names, with its legend and what is to be known of it. */
export function Body(p: BodyProps): JSX.Element {
  const { v, data } = p
  const whole = useMemo(() => fromColumns(timed(data), p.marks), [data, p.marks])
  const hide = v.hide.join()
  const turned = useMemo(() => {
    const seen = without(timed(whole), v.hide)
    return v.inverted && v.view !== 'sandwich' && v.view !== 'table' ? inverted(seen) : seen
  }, [whole, hide, v.inverted, v.view])
  const names = useMemo(() => whole.funcs.names.map(plain), [whole])
  const query = useMemo(() => readQuery(v.q), [v.q])
  const ctx: Context = { v, params: p.params, source: p.source, data, tree: turned, names, query, all: Math.max(1, data.total), rootName: t('flame.root', { kind: tn('flame.of.' + data.kind, data.kind) }) }
  if (turned.n <= 1) return <Empty text={t('flame.nothing')} />
  return (
    <>
      <Legend {...ctx} />
      {query.wrong !== '' && <p class="flame-wrong" role="status">{t('flame.search.wrong', { what: query.wrong })}</p>}
      {v.view === 'table' ? <Table {...ctx} /> : v.view === 'sandwich' ? <Sandwich {...ctx} /> : <Single {...ctx} />}
      <Notes {...ctx} />
    </>
  )
}

// timed marks when the making of a picture began; Picture measures from there.
function timed<T>(from: T): T {
  if (performance.getEntriesByName('flame-data').length === 0) performance.mark('flame-data')
  return from
}

interface Context extends BodyProps {
  tree: Tree
  names: string[]
  query: ReturnType<typeof readQuery>
  /** What shares are of. */
  all: number
  rootName: string
}

// Legend says what colours and marks mean; its buttons merge a kind into callers.
function Legend(p: Context): JSX.Element {
  const { v } = p
  const toggle = (k: FrameKind) => {
    const hide = v.hide.includes(k) ? v.hide.filter((other) => other !== k) : [...v.hide, k]
    setParams({ hide: hide.length > 0 ? hide.join(',') : null })
  }
  const here = useMemo(() => new Set(kindsIn(p.data)), [p.data])
  return (
    <div class="flame-legend" role="group" aria-label={t('flame.legend')}>
      {KINDS.filter((k) => here.has(k)).map((k) => (
        <button key={k} type="button" aria-pressed={!v.hide.includes(k)} title={t('flame.legend.help')} onClick={() => toggle(k)}>
          {!compared(p.tree) && <Swatch kind={k} />}
          <span>{tn('flame.kind.' + k)}</span>
        </button>
      ))}
      {compared(p.tree) && (
        <span class="flame-change">
          <i class="flame-less" aria-hidden="true" />{t('flame.less')}
          <i class="flame-more" aria-hidden="true" />{t('flame.more')}
        </span>
      )}
      {(v.view === 'flame' || v.view === 'icicle') && (
        <label class="flame-inverted">
          <input type="checkbox" checked={v.inverted} onChange={(e) => setParams({ inv: e.currentTarget.checked ? 1 : null, ...NOWHERE })} />
          {t('flame.inverted')}
        </label>
      )}
    </div>
  )
}

function kindsIn(data: Answer): FrameKind[] {
  return [...new Set(data.func_kinds)].map((k) => KINDS[k] ?? 'dep')
}

// Single is one picture, with where one is in it.
function Single(p: Context): JSX.Element {
  const { v, tree } = p
  const focus = useMemo(() => findFocus(tree, v.focus), [tree, v.focus])
  const found = useFound(p, tree, focus)
  const [cursor, setCursor] = useCursor(tree, focus, found)
  const at = cursor < 0 ? focus : cursor
  const picture = (
    <>
      <Path {...p} focus={focus} onFocus={(i) => setParams({ focus: markOf(tree, i) || null, x: null })} />
      <Picture
        {...pictureOf(p)}
        tree={tree}
        up={v.view === 'flame'}
        label={t('flame.label', { kind: tn('flame.of.' + p.data.kind, p.data.kind), v: amount(p.data.total, p.data.unit) })}
        match={found?.match ?? null}
        focus={focus}
        onFocus={(i) => setParams({ focus: markOf(tree, i) || null, x: null })}
        window={v.window}
        onWindow={(w) => setParams({ x: windowText(w, focus) }, { replace: true })}
        cursor={cursor}
        onCursor={setCursor}
        main
      />
      <Frame {...p} tree={tree} i={at} focus={focus} found={found} />
    </>
  )
  if (!v.source || !p.source) return picture
  return (
    <div class="flame-split">
      <div>{picture}</div>
      <div>{p.source(tree.func[at]! >= 0 ? nameOf(tree, at) : v.line > 0 ? v.focus : '')}</div>
    </div>
  )
}

function pictureOf(p: Context): Pick<PictureProps, 'unit' | 'all' | 'rootName' | 'names' | 'menu'> {
  return { unit: p.data.unit, all: p.all, rootName: p.rootName, names: p.names, menu: (tree, i) => entries(p, tree, i) }
}

// entries are what can be done with a frame, in the menu of a right click.
function entries(p: Context, tree: Tree, i: number): Entry[] {
  const f = tree.func[i]!
  if (f < 0) return []
  const name = nameOf(tree, i)
  const kind = KINDS[tree.funcs.kinds[f]!]!
  const copy = (text: string) => void toClipboard(text).then(() => say(t('core.copied')), () => say(t('core.notcopied')))
  const list: Entry[] = []
  if (p.v.view !== 'sandwich') list.push({ text: t('flame.menu.zoom'), act: () => setParams({ focus: markOf(tree, i) || null, x: null }) })
  list.push({ text: t('flame.menu.only'), href: linkWith(p.params, { ...NOWHERE, view: 'sandwich', fn: name, kind: p.data.kind }) })
  list.push({ text: t('flame.mark'), href: linkWith(p.params, { q: name }) })
  if (!p.v.hide.includes(kind)) {
    list.push({ text: t('flame.menu.hide', { kind: tn('flame.kind.' + kind) }), act: () => setParams({ hide: [...p.v.hide, kind].join(',') }) })
  }
  list.push({ text: t('flame.copy'), act: () => copy(name) })
  const place = placeOf(tree, i)
  if (place !== '') list.push({ text: t('flame.menu.copyplace'), act: () => copy(place) })
  if (p.source && p.v.view !== 'sandwich') list.push({ text: t('flame.source.show'), act: () => setParams({ src: 1 }, { replace: true }) })
  const link = editorLink(editor(), tree.funcs.files[f] ?? '', tree.line[i]!)
  if (link !== undefined) list.push({ text: t('flame.menu.editor'), href: link })
  return list
}

// No words mean the focus's own window: the whole needs some where there is a focus.
function windowText(w: Span | null, focus: number): string | null {
  return w && (writeSpan(w) ?? (focus > 0 ? '0-1' : null))
}

function useFound(p: Context, tree: Tree, focus: number): Found | null {
  const { test } = p.query
  return useMemo(() => (test ? search(tree, test, focus) : null), [tree, test, focus])
}

// Frame says everything of one frame, with what one can do with it.
function Frame(p: Context & { tree: Tree; i: number; focus: number; found: Found | null }): JSX.Element {
  const { tree, data } = p
  const i = Math.max(0, Math.min(p.i, tree.n - 1))
  const f = tree.func[i]!
  const name = f < 0 ? p.rootName : p.names[f]!
  const all = (v: number) => t('flame.value', { v: amount(v, data.unit), s: share(v / p.all) })
  const facts: [string, string][] = [[t('flame.sum'), all(tree.sum[i]!)], [t('flame.self'), all(tree.self[i]!)]]
  if (p.focus > 0 && p.focus !== i && tree.sum[p.focus]! > 0) facts.push([t('flame.offocus'), share(tree.sum[i]! / tree.sum[p.focus]!)])
  const base = compared(tree)
  if (base) {
    facts.push([t('flame.basesum'), amount(base.sum[i]!, data.unit)])
    facts.push([t('flame.changed'), changeText(tree.sum[i]!, base.sum[i]!)])
  }
  if (tree.marked) facts.push([t('flame.marked'), all(tree.base!.sum[i]!)])
  return (
    <div class="flame-frame">
      <div class="flame-frame-name">
        <code class="clip" title={name}>{name}</code>
        {f >= 0 && <Copy text={nameOf(tree, i)} label={t('flame.copy')} />}
        {f >= 0 && p.v.view !== 'sandwich' && <a href={sandwichOf(p, nameOf(tree, i))}>{t('flame.tosandwich')}</a>}
        {f >= 0 && <a href={linkWith(p.params, { q: nameOf(tree, i) })}>{t('flame.mark')}</a>}
        {f >= 0 && p.source && p.v.view !== 'sandwich' && !p.v.source && <button type="button" class="quiet" onClick={() => setParams({ src: 1 }, { replace: true })}>{t('flame.source.show')}</button>}
      </div>
      {f >= 0 && <div class="flame-frame-where">{tn('flame.kind.' + KINDS[tree.funcs.kinds[f]!])}{placeOf(tree, i) && <span class="mono clip" title={placeOf(tree, i)}> {placeOf(tree, i)}</span>}</div>}
      <dl>{facts.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
      {p.found && <FoundLine {...p} found={p.found} />}
    </div>
  )
}

function FoundLine(p: Context & { tree: Tree; focus: number; found: Found }): JSX.Element {
  const { found } = p
  const text = found.nodes === 0
    ? t('flame.found.none')
    : t('flame.found', {
        functions: count(found.functions), frames: count(found.nodes),
        v: amount(found.sum, p.data.unit), s: share(found.sum / p.all),
      })
  const focus = p.tree.sum[p.focus]!
  return (
    <p class="flame-found" role="status">
      {text}
      {found.nodes > 0 && p.focus > 0 && focus > 0 && ' ' + t('flame.found.focus', { s: share(found.sum / focus) })}
      {found.nodes > 0 && compared(p.tree) && ' ' + t('flame.found.base', { v: amount(found.base, p.data.unit), c: changeText(found.sum, found.base) })}
    </p>
  )
}

function linkWith(present: URLSearchParams, patch: Record<string, string | null>): string {
  const params = new URLSearchParams(present)
  for (const [k, v] of Object.entries(patch)) {
    if (v === null) params.delete(k)
    else params.set(k, v)
  }
  return href('flame?' + params.toString())
}

function sandwichOf(p: Context, fn: string): string {
  return linkWith(p.params, { ...NOWHERE, view: 'sandwich', fn, kind: p.data.kind })
}

// Sandwich is one function between who calls it and what it calls.
function Sandwich(p: Context): JSX.Element {
  const { v, tree } = p
  const func = useMemo(() => tree.funcs.names.indexOf(v.fn), [tree, v.fn])
  return (
    <div class="flame-sandwich">
      <div class="flame-sandwich-list"><Table {...p} short /></div>
      {v.fn === '' || func < 0
        ? <Empty text={v.fn === '' ? t('flame.choose') : t('flame.nofn', { name: plain(v.fn).slice(0, 200) })} />
        : <Halves {...p} func={func} />}
    </div>
  )
}

function Halves(p: Context & { func: number }): JSX.Element {
  const { v, tree, func } = p
  const up = useMemo(() => callers(tree, func), [tree, func])
  const down = useMemo(() => callees(tree, func), [tree, func])
  const upFocus = useMemo(() => findFocus(up, v.upFocus), [up, v.upFocus])
  const focus = useMemo(() => findFocus(down, v.focus), [down, v.focus])
  const [upCursor, setUpCursor] = useCursor(up, upFocus, null)
  const [cursor, setCursor] = useCursor(down, focus, null)
  const [last, setLast] = useState<'up' | 'down'>('down')
  const match = useFound(p, down, focus)
  const upMatch = useFound(p, up, upFocus)
  const name = p.names[func]!
  const shown = last === 'up' ? { tree: up, i: upCursor < 0 ? upFocus : upCursor, focus: upFocus } : { tree: down, i: cursor < 0 ? focus : cursor, focus }
  return (
    <div class="flame-halves">
      <h2>{t('flame.callers')} <span class="muted">{t('flame.callers.help')}</span></h2>
      <Picture
        {...pictureOf(p)} tree={up} up label={t('flame.callers.of', { name })} match={upMatch?.match ?? null}
        focus={upFocus} onFocus={(i) => setParams({ ufocus: markOf(up, i) || null, ux: null })}
        window={v.upWindow} onWindow={(w) => setParams({ ux: windowText(w, upFocus) }, { replace: true })}
        cursor={upCursor} onCursor={(i) => { setUpCursor(i); setLast('up') }} main={false}
      />
      <h2>{t('flame.callees')} <span class="muted">{t('flame.callees.help')}</span></h2>
      <Picture
        {...pictureOf(p)} tree={down} up={false} label={t('flame.callees.of', { name })} match={match?.match ?? null}
        focus={focus} onFocus={(i) => setParams({ focus: markOf(down, i) || null, x: null })}
        window={v.window} onWindow={(w) => setParams({ x: windowText(w, focus) }, { replace: true })}
        cursor={cursor} onCursor={(i) => { setCursor(i); setLast('down') }} main
      />
      <Frame {...p} {...shown} found={null} />
    </div>
  )
}

function Table(p: Context & { short?: boolean }): JSX.Element {
  const found = useFound(p, p.tree, 0)
  const table = functionTable({
    tree: p.tree, names: p.names, unit: p.data.unit, all: p.all, match: found?.match ?? null, short: p.short ?? false,
    sort: p.v.sort, desc: p.v.desc,
    onSort: (sort) => setParams({ sort }, { replace: true }),
    link: (fn) => sandwichOf(p, fn),
  })
  return (
    <>
      {table}
      {found && <FoundLine {...p} focus={0} found={found} />}
    </>
  )
}

function Notes(p: Context): JSX.Element {
  const { data } = p
  const left = useMemo(() => leftOut(p.tree), [p.tree])
  // For whoever measures the page: how large the picture is that was drawn.
  useEffect(() => {
    document.documentElement.dataset['flame'] = String(p.tree.n)
    return () => delete document.documentElement.dataset['flame']
  }, [p.tree])
  return (
    <div class="flame-notes muted">
      {data.note !== '' && <p><Said text={data.note} /></p>}
      {data.left_nodes > 0 && <p>{t('flame.left', { n: count(data.left_nodes), v: amount(left, data.unit), s: share(left / p.all) })}</p>}
      {compared(p.tree) && <p>{t(data.per_what === 'operation' ? 'flame.per.operation' : data.per_what === 'second' ? 'flame.per.second' : 'flame.per.none', { x: ratioText(data.ratio) })} {t('flame.per.width')}</p>}
      {p.v.hide.length > 0 && <p>{t('flame.hidden', { kinds: p.v.hide.map((k) => tn('flame.kind.' + k)).join(lang() === 'zh' ? '、' : ', ') })}</p>}
    </div>
  )
}

function ratioText(r: number): string {
  return '×' + Number(r.toPrecision(3))
}
