// The cursor that all charts of a screen share: where one points, all point.

type Listener = (at: number | null) => void

export class Clock {
  at: number | null = null
  private readonly listeners = new Set<Listener>()
  private frame = 0

  /** Moves the cursor; null takes it away. Listeners hear of it once a frame. */
  set(at: number | null): void {
    if (at === this.at) return
    this.at = at
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0
        for (const tell of [...this.listeners]) tell(this.at)
      })
    }
  }

  /** Hears of the cursor until the returned function is called. */
  subscribe(tell: Listener): () => void {
    this.listeners.add(tell)
    return () => this.listeners.delete(tell)
  }
}
