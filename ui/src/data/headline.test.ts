import { describe, expect, it } from 'vitest'
import type { Finding } from '../api'
import { headline } from './headline'

const of = (summary: string, ...findings: string[]) => headline({ summary, findings: findings.map((s) => ({ summary: s }) as Finding) })

describe('the headline of a verdict', () => {
  it('is the first finding’s sentence, and the machine’s part stands beside it', () => {
    expect(of('58.5 goroutines wait. The machine was busy.', '58.5 goroutines wait')).toEqual(['58.5 goroutines wait', 'The machine was busy.'])
    expect(of('58.5 goroutines wait', '58.5 goroutines wait')).toEqual(['58.5 goroutines wait', ''])
  })
  it('is all of it where the summary is not about the first finding', () => {
    expect(of('Nothing is wrong. 62 checks ran.')).toEqual(['Nothing is wrong. 62 checks ran.', ''])
    expect(of('Nothing is wrong.', 'a remark')).toEqual(['Nothing is wrong.', ''])
    expect(of('Nothing is wrong.', '')).toEqual(['Nothing is wrong.', ''])
  })
})
