// What is shown when nothing is open: what this is, how to record, where to drop.
import type { JSX } from 'preact'
import { ChooseFiles, type useOpening } from '../drop'
import { Command } from '../parts/copy'
import { t, type Key } from '../strings'
import './welcome.css'

const ways: [title: Key, command: string][] = [
  ['core.empty.record.url', 'gowhy record -d 10s -o run.gowhy --url http://localhost:6060'],
  ['core.empty.record.cmd', 'gowhy record -o run.gowhy -- ./server'],
  ['core.empty.record.bench', "go test -exec 'gowhy record --' -bench ."],
  ['core.empty.record.demo', 'gowhy demo -o run.gowhy'],
]

export function Welcome(p: { opening: ReturnType<typeof useOpening> }): JSX.Element {
  return (
    <div class="welcome">
      <h2>{t('core.empty.title')}</h2>
      <p class="welcome-text">{t('core.empty.text')}</p>
      <section class="card">
        <h3>{t('core.empty.record')}</h3>
        {ways.map(([title, command]) => (
          <div key={title} class="welcome-way">
            <h4>{t(title)}</h4>
            <Command text={command} />
          </div>
        ))}
      </section>
      <section class="welcome-drop">
        <h3>{t('core.empty.drop')}</h3>
        <p>{t('core.empty.drop.text')}</p>
        <ChooseFiles opening={p.opening} label={t('core.drop.choose')} class="primary" />
      </section>
    </div>
  )
}
