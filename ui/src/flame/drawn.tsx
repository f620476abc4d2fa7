// A tree in one picture, with what is searched for, and where one is in it: the flame graph of
// screens that are about more than it.
import type { JSX } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Flame } from '../api'
import { toClipboard } from '../data/tsv'
import { count, share } from '../format'
import { useKeys } from '../keys'
import { say } from '../parts/live'
import { Empty } from '../parts/states'
import { t, tn } from '../strings'
import { setParams, usePlace } from '../url'
import { useCursor } from './cursor'
import { amount } from './describe'
import { Path } from './path'
import { Picture } from './picture'
import { findFocus, markOf, readView, writeSpan } from './place'
import { readQuery, search } from './search'
import { Swatch } from './swatch'
import { plain } from './text'
import { fromColumns, KINDS, nameOf } from './tree'

export interface DrawnProps {
  data: Flame
  /** The root at the bottom. */
  up: boolean
  /** What to say where the tree has nothing. */
  empty: string
}

export function Drawn(p: DrawnProps): JSX.Element {
  const { data } = p
  const { params } = usePlace()
  const v = readView(params)
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() }, [])
  const tree = useMemo(() => fromColumns(data), [data])
  const names = useMemo(() => tree.funcs.names.map(plain), [tree])
  const query = useMemo(() => readQuery(v.q), [v.q])
  const focus = useMemo(() => findFocus(tree, v.focus), [tree, v.focus])
  const found = useMemo(() => (query.test ? search(tree, query.test, focus) : null), [tree, query, focus])
  const [cursor, setCursor] = useCursor(tree, focus, found)
  const kind = tn('flame.of.' + data.kind, data.kind)
  const rootName = t('flame.root', { kind })
  const all = Math.max(1, data.total)
  const here = useMemo(() => new Set(data.func_kinds), [data])
  const zoom = (i: number) => setParams({ focus: markOf(tree, i) || null, x: null })
  const copy = (text: string) => void toClipboard(text).then(() => say(t('core.copied')), () => say(t('core.notcopied')))
  return (
    <div class="flame">
      <div class="flame-bar">
        {data.kinds.length > 1 && (
          <label>
            <span class="flame-word">{t('flame.kind')}</span>
            <select value={data.kind} onChange={(e) => setParams({ kind: e.currentTarget.value, focus: null, x: null })}>
              {data.kinds.map((k) => <option key={k.kind} value={k.kind}>{tn('flame.of.' + k.kind, k.kind) + '  ·  ' + amount(k.total, k.unit)}</option>)}
            </select>
          </label>
        )}
        <label class="flame-search">
          <span class="flame-word">{t('flame.search')}</span>
          <input
            ref={field}
            type="search"
            value={v.q}
            spellcheck={false}
            autocomplete="off"
            placeholder={t('flame.search.hint')}
            aria-invalid={query.wrong !== ''}
            title={query.wrong || t('flame.search.help')}
            onInput={(e) => setParams({ q: e.currentTarget.value || null }, { replace: true })}
            onKeyDown={(e) => {
              if (e.key === 'Enter' || e.key === 'Escape') e.currentTarget.blur()
              if (e.key === 'Escape') setParams({ q: null }, { replace: true })
            }}
          />
        </label>
        <span class="flame-kinds">
          {KINDS.filter((_, i) => here.has(i)).map((k) => <span key={k}><Swatch kind={k} /> {tn('flame.kind.' + k)}</span>)}
        </span>
      </div>
      {query.wrong !== '' && <p class="flame-wrong" role="status">{t('flame.search.wrong', { what: query.wrong })}</p>}
      {tree.n <= 1
        ? <Empty text={p.empty} />
        : (
          <>
            <Path tree={tree} names={names} rootName={rootName} focus={focus} onFocus={zoom} />
            <Picture
              tree={tree} up={p.up} unit={data.unit} all={all} rootName={rootName} names={names} main
              label={t('flame.label', { kind, v: amount(data.total, data.unit) })}
              match={found?.match ?? null}
              focus={focus} onFocus={zoom}
              window={v.window} onWindow={(w) => setParams({ x: w && (writeSpan(w) ?? (focus > 0 ? '0-1' : null)) }, { replace: true })}
              cursor={cursor} onCursor={setCursor}
              menu={(_, i) => (tree.func[i]! < 0 ? [] : [
                { text: t('flame.menu.zoom'), act: () => zoom(i) },
                { text: t('flame.mark'), act: () => setParams({ q: nameOf(tree, i) }, { replace: true }) },
                { text: t('flame.copy'), act: () => copy(nameOf(tree, i)) },
              ])}
            />
          </>
        )}
      {found && (
        <p class="flame-found" role="status">
          {found.nodes === 0
            ? t('flame.found.none')
            : t('flame.found', { functions: count(found.functions), frames: count(found.nodes), v: amount(found.sum, data.unit), s: share(found.sum / all) })}
        </p>
      )}
      {data.note !== '' && <p class="flame-notes muted">{data.note}</p>}
    </div>
  )
}
