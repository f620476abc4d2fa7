import { render } from 'preact'
import './theme.css' // before what the screens add to it
import { App, begin } from './app'
import { spoken } from './strings'

const root = document.getElementById('app')
if (root) {
  begin()
  void spoken().then(() => render(<App />, root))
}
