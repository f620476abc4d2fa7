// The viewer that is committed is the one of the package, file by file.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { speedscope, viewer } from '../build/speedscope.mjs'

it('speedscope is as its package has it', () => {
  const files = speedscope()
  expect(readdirSync(viewer).sort()).toEqual([...files.keys()].sort())
  for (const [name, bytes] of files) expect(readFileSync(join(viewer, name)).equals(bytes), name).toBe(true)
})
