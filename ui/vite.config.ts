import { defineConfig, runnerImport, type Plugin } from 'vite'

// The built files are committed, so that go install needs no Node: their names
// are fixed, and a rebuild gives the same bytes.
//
// The page of a run is built twice. What gowhy serves is in parts, of which a screen loads
// its own. A report file (--mode report) has nobody to ask for a part, and gets
// the same page as one script and one style. The fleet's page (--mode fleet) is another
// one, of the same parts. All go to folders of their own; build/publish.mjs puts them
// where they belong once all of it is there.
export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [halves(mode === 'fleet' ? 'fleet' : 'run')],
  oxc: { jsx: { importSource: 'preact' } },
  build: {
    outDir: mode === 'report' ? '.build/report' : mode === 'fleet' ? '.build/fleet' : '.build/page',
    emptyOutDir: true,
    target: 'es2022',
    // A screen's parts are asked for together, and not each when the one before has
    // named it. All browsers that can read the page can do that.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // One style for all screens, ten kilobytes packed: the code of a screen is not run
    // before its style is there, and a browser asks for few things at once.
    cssCodeSplit: false,
    rolldownOptions: {
      ...(mode === 'fleet' && { input: 'fleet.html' }),
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: 'index[extname]',
        ...(mode === 'report' && { codeSplitting: false }),
      },
    },
  },
}))

// halves gives each language a module of its own.
//
// In the sources a text stands in both languages side by side, and en.ts and zh.ts
// take their half when they run. Built like that, the page would bring each reader
// the language that he does not read. So the halves are taken when the page is
// built: the two modules become their texts, and nothing needs the catalogue any
// more. Whatever else runs the sources (the tests, vite's own server) does without.
function halves(page: 'run' | 'fleet'): Plugin {
  type Catalogue = typeof import('./src/strings/catalogue')
  return {
    name: 'gowhy:halves',
    apply: 'build',
    async load(id) {
      const language = ['/src/strings/en.ts', '/src/strings/zh.ts'].findIndex((name) => id.endsWith(name))
      if (language < 0) return
      const { module } = await runnerImport<Catalogue>('./src/strings/catalogue.ts')
      const texts = module.half(language as 0 | 1, page)
      if (language === 0) return `export const texts = ${JSON.stringify(texts)}`
      // The keys are those of English, in their order: twice they would be a third of it.
      return `import { texts as english } from './en'
        const list = ${JSON.stringify(Object.values(texts))}
        export const texts = Object.fromEntries(Object.keys(english).map((key, i) => [key, list[i]]))`
    },
  }
}
