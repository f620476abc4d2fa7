// The number that the address names: what the screens mark until it is dismissed.
import type { Cost, Fact, FactLink, FindingLinks, Findings } from './api'
import { useData } from './client'
import { usePlace } from './url'

export interface Mark {
  fact: Fact
  /** The measured number that it is shown by: itself, or the first of its operands with a picture. */
  lead: Fact
  /** Where it is shown. */
  to: string
  /** The finding's number, counted from 1; 0 for what is of an account. */
  finding: number
}

/** What is marked; undefined when nothing is. */
export function useMark(r: number): Mark | undefined {
  const address = usePlace().params.get('fact')
  const { data } = useData<Findings>(address === null ? null : 'api/findings', { r })
  return address === null || !data?.diagnosis ? undefined : markAt(data, address)
}

/** What has numbers: a finding, or an account with its rows as evidence. */
interface Numbers {
  evidence: Fact[]
  symptoms?: Numbers[]
  cost?: Cost
  bound?: Fact
}

/** The number at an address, like "2.s0.e1.o0" or "a0.e1": see the server's factAt. */
export function markAt(data: Findings, address: string): Mark | undefined {
  const [first = '', ...steps] = address.split('.')
  const [, account, number] = /^(a?)(\d+)$/.exec(first) ?? []
  if (number === undefined || !data.diagnosis) return undefined
  const rows = data.diagnosis.accounts?.[Number(number)]?.rows
  let f: Numbers | undefined = account ? rows && { evidence: rows.map((r) => r.value) } : data.diagnosis.findings[Number(number)]
  let l: FindingLinks | undefined = (account ? data.accounts : data.links)[Number(number)]
  let fact: Fact | undefined
  let link: FactLink | undefined
  for (const step of steps) {
    const i = Number(step.slice(1))
    if (!f || !l || !/^[seocb]\d*$/.test(step)) return undefined
    if (fact && step[0] !== 'o') return undefined
    if (fact) [fact, link] = [fact.operands?.[i], link?.operands[i]]
    else if (step[0] === 's') [f, l] = [f.symptoms?.[i], l.symptoms[i]]
    else if (step[0] === 'e') [fact, link] = [f.evidence[i], l.evidence[i]]
    else if (step[0] === 'c' && f.cost) [fact, link] = [{ ...f.cost, name: f.cost.what }, l.cost]
    else if (step[0] === 'b') [fact, link] = [f.bound, l.bound]
    if (step[0] !== 's' && !fact) return undefined
  }
  return fact && link ? { fact, lead: leadOf(fact), to: link.to, finding: account ? 0 : Number(number) + 1 } : undefined
}

const pictured = ['samples', 'waits', 'goroutines']

function leadOf(f: Fact): Fact {
  const all = (f.operands ?? []).map(leadOf)
  return all.find((o) => pictured.includes(o.origin.kind) && !o.origin.fold) ?? all[0] ?? f
}
