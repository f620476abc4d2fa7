import { render } from 'preact'
import '../theme.css' // before what the screens add to it
import { spoken } from '../strings'
import { carryAll, follow } from '../url'
import { App } from './app'

// The time stays the same from screen to screen.
follow({ home: 'services', carry: (here, to) => carryAll(to.has('span') || to.has('from') ? [] : ['span', 'from', 'until'], here, to) })

const root = document.getElementById('app')
if (root) void spoken().then(() => render(<App />, root))
