import { defineConfig } from 'vite'
import { halves } from './build/halves'

// The built files are committed, so that go install needs no Node: their names
// are fixed, and a rebuild gives the same bytes.
//
// The page is built twice. What gowhy serves is in parts, of which a screen loads
// its own. A report file (--mode report) has nobody to ask for a part, and gets
// the same page as one script and one style. Both go to a folder of their own;
// build/publish.mjs puts them where they belong once all of it is there.
export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [halves()],
  oxc: { jsx: { importSource: 'preact' } },
  build: {
    outDir: mode === 'report' ? '.build/report' : '.build/page',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: '[name][extname]',
        ...(mode === 'report' && { codeSplitting: false }),
      },
    },
  },
}))
