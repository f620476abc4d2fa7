// The connection to a program that runs. The browser itself makes a lost one again
// and names the last event that it had; when it gives up, or when nothing is heard
// though the connection stands, this makes a new one.
import type { LiveNews } from '../api'
import { plain } from '../client'

/** How the connection is; since when it is lost, in ms since 1970. */
export type Status = { at: 'connecting' } | { at: 'live' } | { at: 'lost'; since: number }

/** What is used of EventSource. */
export interface Source {
  readonly readyState: number
  onopen: ((e: Event) => void) | null
  onerror: ((e: Event) => void) | null
  onmessage: ((e: MessageEvent<string>) => void) | null
  close(): void
}

/** EventSource.CLOSED, for where there is no EventSource. */
const CLOSED = 2

/** How long to wait before a new connection: at first, and at most. */
const FIRST_MS = 1000
const MOST_MS = 10_000

/** An event comes about every second; after this long without any the connection is one in name only. */
const QUIET_MS = 15_000

export class Connection {
  status: Status = { at: 'connecting' }
  private source: Source | undefined
  private wait = FIRST_MS
  private again: ReturnType<typeof setTimeout> | undefined
  private quiet: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly url: string,
    private readonly heard: (news: LiveNews) => void,
    private readonly changed: (s: Status) => void,
    private readonly make: (url: string) => Source = (where) => new EventSource(where),
  ) {
    this.connect()
  }

  /** Ends it for good. */
  close(): void {
    this.drop()
    clearTimeout(this.again)
  }

  private connect(): void {
    const source = (this.source = this.make(this.url))
    source.onopen = () => this.listen(QUIET_MS)
    source.onmessage = (e) => {
      let news: LiveNews
      try {
        news = JSON.parse(plain(e.data)) as LiveNews
      } catch (wrong) {
        console.error(wrong)
        return
      }
      this.wait = FIRST_MS
      this.tell({ at: 'live' })
      // Of a program that ended there is nothing to hear.
      this.listen(news.ended ? Infinity : Math.max(QUIET_MS, 5 * news.cost.every_ms))
      this.heard(news)
    }
    source.onerror = () => {
      this.lost()
      if (source.readyState === CLOSED) this.retry()
      else this.listen(2 * QUIET_MS) // the browser tries again
    }
    this.listen(QUIET_MS)
  }

  // listen gives up on the connection when nothing comes for so long.
  private listen(ms: number): void {
    clearTimeout(this.quiet)
    if (ms === Infinity) return
    this.quiet = setTimeout(() => {
      this.lost()
      this.retry()
    }, ms)
  }

  private retry(): void {
    this.drop()
    clearTimeout(this.again)
    this.again = setTimeout(() => this.connect(), this.wait)
    this.wait = Math.min(MOST_MS, this.wait * 2)
  }

  private drop(): void {
    clearTimeout(this.quiet)
    const source = this.source
    this.source = undefined
    if (!source) return
    source.onopen = source.onerror = source.onmessage = null
    source.close()
  }

  private lost(): void {
    if (this.status.at !== 'lost') this.tell({ at: 'lost', since: Date.now() })
  }

  private tell(s: Status): void {
    if (s.at === this.status.at) return
    this.status = s
    this.changed(s)
  }
}
