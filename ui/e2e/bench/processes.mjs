// The processes that are measured: gowhy view and go tool trace, each on a free
// port of the loopback, and what they answer. They are ended by their own id.
import { spawn } from 'node:child_process'
import http from 'node:http'
import { createServer } from 'node:net'
import { gunzipSync } from 'node:zlib'

const running = new Set()
process.once('exit', () => running.forEach((p) => p.kill('SIGKILL')))

function start(command, args, env) {
  const began = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  running.add(child)
  const p = { child, pid: child.pid, began, said: '', ended: false }
  const gone = new Promise((resolve) => {
    const end = () => {
      p.ended = true
      running.delete(child)
      resolve()
    }
    child.once('exit', end)
    child.once('error', (e) => {
      p.said += e.message
      end()
    })
  })
  p.gone = gone
  for (const s of [child.stdout, child.stderr]) {
    s.setEncoding('utf8')
    s.on('data', (text) => (p.said = (p.said + text).slice(-16_384)))
  }
  /** stop ends it and waits until it is gone. */
  p.stop = async () => {
    const slow = setTimeout(() => child.kill('SIGKILL'), 10_000)
    if (!p.ended) child.kill('SIGINT')
    await gone
    clearTimeout(slow)
  }
  return p
}

/** Starts gowhy view; url tells its address as soon as that is printed. */
export async function view(gowhy, file) {
  const p = start(gowhy, ['view', '--no-open', file])
  p.url = await new Promise((resolve, reject) => {
    const look = () => {
      const found = p.said.match(/http:\/\/127\.0\.0\.1:\d+\/t\/\w+\//)
      if (found) resolve(found[0])
    }
    p.child.stdout.on('data', look)
    p.gone.then(() => reject(new Error(`gowhy view ended before it told its address: ${p.said.trim()}`)))
  })
  return p
}

/** Starts go tool trace, which opens no browser: BROWSER names a program that does nothing. */
export async function tool(binary, file) {
  const port = await freePort()
  const p = start(binary, [`-http=127.0.0.1:${port}`, file], { BROWSER: 'true' })
  p.url = `http://127.0.0.1:${port}/`
  return p
}

function freePort() {
  return new Promise((resolve, reject) => {
    const s = createServer()
    s.once('error', reject)
    s.listen(0, '127.0.0.1', () => {
      const { port } = s.address()
      s.close(() => resolve(port))
    })
  })
}

/** Asks as a browser does, over connections that stay, and tells how long the whole answer took. */
export class Asker {
  agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

  get(url) {
    return new Promise((resolve, reject) => {
      const began = performance.now()
      const request = http.get(url, { agent: this.agent, headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } }, (r) => {
        const parts = []
        r.on('data', (b) => parts.push(b))
        r.on('error', reject)
        r.on('end', () => {
          const ms = performance.now() - began
          const raw = Buffer.concat(parts)
          resolve({ ms, status: r.statusCode, bytes: raw.length, body: r.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw })
        })
      })
      request.on('error', reject)
    })
  }

  /** json is of an answer that must be one. */
  async json(url) {
    const a = await this.get(url)
    if (a.status !== 200) throw new Error(`${a.status} for ${url}: ${a.body.toString('utf8').slice(0, 500)}`)
    return JSON.parse(a.body.toString('utf8'))
  }

  close() {
    this.agent.destroy()
  }
}

export const sleep = (ms) => new Promise((r) => setTimeout(r, ms))

/** Waits until something is so; also ends when the process does. */
export async function until(what, p, ask, ms) {
  const end = performance.now() + ms
  for (;;) {
    const got = await ask()
    if (got) return got
    if (p.ended) throw new Error(`it ended while waiting for ${what}: ${p.said.trim()}`)
    if (performance.now() > end) throw new Error(`waited ${ms / 1000} s for ${what}`)
    await sleep(10)
  }
}
