import { describe, expect, it } from 'vitest'
import type { Frame, Lane, Span } from '../api'
import { textOf } from './draw'
import { flameOf, laneOfThread, marked, own } from './kernel'
import { heightOf, isKernel, isSingle, kindOfId, LaneTree } from './lanes'
import { stateIn } from './legend'

const lane = (id: string, kind: string, parent = '', children = 0): Lane => ({
  id, kind, parent, children, label: id, detail: '', count: 9, total_ns: 0, from_ns: 0, to_ns: 1, peak: 1,
})
const frame = (func: string, kind: string): Frame => ({ func, file: '', line: 0, kind })
const states = ['running', 'runnable', 'syscall']
const span = (state: number, reason: string): Span => ({ from_ns: 0, to_ns: 5, state, reason, goroutine: -1, group: '', proc: -1, thread: 9 })

describe('lanes of the kernel’s samples', () => {
  it('open into the CPUs', () => {
    const t = new LaneTree([lane('ps', 'ps'), lane('kernel', 'kernel', '', 70), lane('kernel:0', 'cpu', 'kernel'), lane('kernel:1', 'cpu', 'kernel')])
    expect(t.opens('kernel')).toBe(true)
    t.setOpen(['kernel'])
    const rows = t.rows(0, t.height)
    expect(rows.slice(0, 4).map((r) => r.id)).toEqual(['ps', 'kernel', 'kernel:0', 'kernel:1'])
    expect(rows).toHaveLength(72)
    expect(rows[4]!.h).toBe(heightOf('cpu')) // that has not come
    expect(t.missing(rows)).toEqual([{ parent: 'kernel', offset: 0 }])
  })
  it('are known by their ids, so that a link to one that nobody listed has its height', () => {
    expect(['kernel', 'kernel:12', 'go:7@5', 'ps', 'm:3'].map(kindOfId)).toEqual(['kernel', 'cpu', 'go', 'ps', 'm'])
    const t = new LaneTree([lane('ps', 'ps')])
    t.pin(['kernel:5', 'kernel', 'odd:1'])
    expect(t.rows(0, t.height).map((r) => r.h)).toEqual([heightOf('cpu'), heightOf('kernel'), heightOf('go'), heightOf('ps')])
  })
  it('are of one state at a time where they are of one CPU', () => {
    expect(isSingle('cpu')).toBe(true)
    expect(isSingle('kernel')).toBe(false)
    expect(isKernel('kernel') && isKernel('cpu') && !isKernel('samples')).toBe(true)
  })
  it('name what a sample was of', () => {
    expect(textOf({ kind: 'cpu' }, span(2, 'openat'), states, 20)).toBe('openat')
    expect(textOf({ kind: 'cpu' }, span(0, 'example.com/app/work.(*Pool).run'), states, 20)).toBe('work.(*Pool).run')
    expect(textOf({ kind: 'cpu' }, span(0, ''), states, 20)).toBe('running')
  })
  it('say what the two states mean there, and only there', () => {
    expect(stateIn('cpu', 'syscall')).toBe('in the kernel')
    expect(stateIn('kernel', 'running')).toBe('in user code')
    expect(stateIn('go', 'syscall')).toBe('syscall')
  })
})

describe('ways on from a sample', () => {
  it('lead to the flame graph, with the function marked', () => {
    expect(flameOf('')).toBe('flame?kind=kernel')
    expect(flameOf('main.(*T).a&b')).toBe('flame?kind=kernel&q=main.(*T).a%26b')
    expect(['openat', 'page fault', 'system call', 'interrupt'].map(marked)).toEqual(['openat', 'page_fault', '', ''])
  })
  it('name the program’s function that led into the kernel', () => {
    expect(own([frame('do_sys_openat2', 'kernel'), frame('os.Open', 'std'), frame('main.work', 'own'), frame('main.main', 'own')])).toBe('main.work')
    expect(own([frame('do_idle', 'kernel')])).toBe('')
    expect(own(null)).toBe('')
  })
  it('lead to the thread', () => {
    expect(laneOfThread(28549)).toBe('m:28549')
  })
})
