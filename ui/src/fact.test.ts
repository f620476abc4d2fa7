import { describe, expect, it } from 'vitest'
import type { Diagnosis, Fact, FactLink, FindingLinks, Findings } from './api'
import { markAt } from './fact'

const fact = (name: string, kind: string, operands?: Fact[]): Fact =>
  ({ name, value: 1, unit: 'count', text: '1', origin: { kind, text: '' }, ...(operands ? { operands } : {}) }) as Fact
const link = (to: string, ...operands: FactLink[]): FactLink => ({ to, operands })

const waits = fact('waits', 'waits')
const mean = fact('mean', 'computed', [fact('window', 'window'), waits])
const finding = { evidence: [mean], cost: { ...waits, what: 'cost' }, bound: fact('bound', 'setting'), symptoms: [{ evidence: [waits], symptoms: [] }] }
const d = { findings: [finding], accounts: [{ rows: [{ value: waits }, { value: mean }] }] } as unknown as Diagnosis
const links = [{
  evidence: [link('flame?kind=sync', link('number'), link('flame?kind=sync'))], cost: link('cost'), bound: link('bound'),
  symptoms: [{ evidence: [link('symptom')], symptoms: [] }],
}] as unknown as FindingLinks[]
const accounts = [{ evidence: [link('flame?kind=sync'), link('number', link('window'))], symptoms: [] }] as unknown as FindingLinks[]
const data: Findings = { diagnosis: d, links, accounts }

describe('the number at an address', () => {
  it('is evidence, a cost, a bound, an operand, or of a symptom', () => {
    expect(markAt(data, '0.e0')).toMatchObject({ fact: { name: 'mean' }, lead: { name: 'waits' }, to: 'flame?kind=sync', finding: 1 })
    expect(markAt(data, '0.e0.o0')).toMatchObject({ fact: { name: 'window' }, to: 'number' })
    expect(markAt(data, '0.c')).toMatchObject({ fact: { name: 'cost' }, to: 'cost' })
    expect(markAt(data, '0.b')).toMatchObject({ fact: { name: 'bound' }, to: 'bound' })
    expect(markAt(data, '0.s0.e0')).toMatchObject({ fact: { name: 'waits' }, to: 'symptom' })
  })

  it('is a row of an account', () => {
    expect(markAt(data, 'a0.e0')).toMatchObject({ fact: { name: 'waits' }, to: 'flame?kind=sync', finding: 0 })
    expect(markAt(data, 'a0.e1.o0')).toMatchObject({ fact: { name: 'window' }, to: 'window' })
  })

  it('is none where there is none', () => {
    for (const address of ['', 'x', '0', '1.e0', '0.e1', '0.e0.o2', '0.s1.e0', '0.z0', '0.e0.e0', 'a0', 'a1.e0', 'a0.e2', 'a0.c0', 'a0.s0.e0', 'b0.e0']) {
      expect(markAt(data, address), address).toBeUndefined()
    }
  })
})
