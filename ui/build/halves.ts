// The texts of the page, one module for each language.
//
// In the sources a text stands in both languages side by side, and en.ts and zh.ts
// take their half when they run. A page built like that would bring each reader
// the language that he does not read. So the halves are taken when the page is
// built: the two modules become their texts, and nothing is left that needs the
// catalogue. Whatever else runs the sources (the tests, vite's own server) does
// without.
import type { Plugin } from 'vite'
import { half } from '../src/strings/catalogue'

const modules: [name: string, language: 0 | 1][] = [['/src/strings/en.ts', 0], ['/src/strings/zh.ts', 1]]

export function halves(): Plugin {
  return {
    name: 'gowhy:halves',
    apply: 'build',
    load(id) {
      const known = modules.find(([name]) => id.endsWith(name))
      return known && `export const texts = ${JSON.stringify(half(known[1]))}`
    },
  }
}
