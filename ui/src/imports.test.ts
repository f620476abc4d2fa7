import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

// In a circle no module can be read, or moved, before the others. Types count as
// much as functions; what is loaded later (`import('./…')`) does not.
const STATIC = /^(?:import|export)\s(?:[^'"]*?\sfrom\s+)?'(\.[^']*)'/gm

const root = dirname(fileURLToPath(import.meta.url))
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((f) => /\.tsx?$/.test(f)).map((f) => join(root, f))

function imports(file: string): string[] {
  const named = [...readFileSync(file, 'utf8').matchAll(STATIC)].map((m) => resolve(dirname(file), m[1] ?? ''))
  return named.flatMap((n) => files.filter((f) => [n + '.ts', n + '.tsx', n + '/index.ts'].includes(f)))
}

it('no module imports itself through others', () => {
  const graph = new Map(files.map((f) => [f, imports(f)]))
  const circles: string[] = []
  const done = new Set<string>()
  const walk = (file: string, path: string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) circles.push([...path.slice(at), file].map((f) => f.slice(root.length + 1)).join(' → '))
    if (at >= 0 || done.has(file)) return
    for (const next of graph.get(file) ?? []) walk(next, [...path, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
  expect([...graph.values()].flat().length).toBeGreaterThan(files.length)
  expect(circles).toEqual([])
})
