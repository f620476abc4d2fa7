import { useEffect, useRef, useState } from 'preact/hooks'
import type { LiveNews } from '../api'
import { query } from '../client'
import { say } from '../parts/live'
import { t } from '../strings'
import { Connection, type Status } from './connection'
import { changes, merge, type Feed } from './feed'

/** What is known of a program while it runs, and how the connection to it is. */
export function useLive(pid: string | undefined): { feed: Feed | undefined; status: Status } {
  const [feed, show] = useState<Feed | undefined>(undefined)
  const [status, setStatus] = useState<Status>({ at: 'connecting' })
  const latest = useRef<Feed | undefined>(undefined)
  useEffect(() => {
    latest.current = undefined
    show(undefined)
    setStatus({ at: 'connecting' })
    let lost = false
    const heard = (news: LiveNews): void => {
      const before = latest.current
      latest.current = merge(before, news)
      announce(before, latest.current)
      if (!document.hidden) show(latest.current) // nobody sees a page that is behind others
    }
    const changed = (s: Status): void => {
      if (s.at === 'lost') say(t('live.say.lost'))
      else if (lost && s.at === 'live') say(t('live.say.back'))
      lost = s.at === 'lost'
      setStatus(s)
    }
    const connection = new Connection(query('api/live', { pid }), heard, changed)
    const seen = (): void => {
      if (!document.hidden) show(latest.current)
    }
    document.addEventListener('visibilitychange', seen)
    return () => {
      connection.close()
      document.removeEventListener('visibilitychange', seen)
    }
  }, [pid])
  return { feed, status }
}

// announce says what changed that matters; not what was there when the page began.
function announce(before: Feed | undefined, now: Feed): void {
  if (!before) return
  const { came, went } = changes(before.news.verdict.findings, now.news.verdict.findings)
  const said = [...came.map((f) => t('live.say.came', { title: f.title })), ...went.map((f) => t('live.say.went', { title: f.title }))]
  if (now.news.ended && !before.news.ended) said.push(t('live.say.ended'))
  if (said.length > 0) say(said.join('. '))
}
