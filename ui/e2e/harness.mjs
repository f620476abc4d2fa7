// A list of checks, run one after another. One that fails does not end the others.

let passed = 0
const failed = []

/** Runs one check and says how it went; returns whether it is well. */
export async function check(name, run) {
  const start = Date.now()
  try {
    await run()
    passed++
    console.log(`ok    ${name} (${Date.now() - start} ms)`)
    return true
  } catch (e) {
    failed.push(name)
    console.log(`FAIL  ${name}\n      ${String(e?.message ?? e).split('\n').slice(0, 30).join('\n      ')}`)
    return false
  }
}

/** Makes something and says how long that took. */
export async function timed(name, make) {
  const start = Date.now()
  const made = await make()
  console.log(`made  ${name} (${Date.now() - start} ms)`)
  return made
}

/** Fails when it is not so. */
export function must(condition, message) {
  if (!condition) throw new Error(typeof message === 'function' ? message() : message)
}

export function equal(got, want, what) {
  must(got === want, () => `${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
}

/** Runs something for each of a list and fails with all that went wrong, not only the first. */
export async function each(list, run) {
  const wrong = []
  for (const x of list) {
    try {
      await run(x)
    } catch (e) {
      wrong.push(String(e?.message ?? e))
    }
  }
  must(wrong.length === 0, () => wrong.join('\n'))
}

/** Says the sum, and returns the exit code. */
export function summary() {
  for (const name of failed) console.log(`failed: ${name}`)
  console.log(`${passed} passed, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
}

/**
 * Waits until something is so, asking again and again. The bound is reached only where
 * something is wrong: it is long enough for a machine that others use too.
 */
export async function until(what, ask, ms = 60_000) {
  const end = Date.now() + ms
  for (;;) {
    const got = await ask()
    if (got) return got
    must(Date.now() < end, `waited ${ms} ms for ${what}`)
    await new Promise((r) => setTimeout(r, 20))
  }
}

/** Waits until something reads the same twice, so many milliseconds apart, and returns it. */
export async function resting(what, read, apart = 300) {
  let last = await read()
  await until(what, async () => {
    await new Promise((r) => setTimeout(r, apart))
    const before = JSON.stringify(last)
    last = await read()
    return JSON.stringify(last) === before
  })
  return last
}

/** That a recording does not show what was to be looked at: another one may. */
export class Unlike extends Error {}

/** Looks at one recording after another until one shows it, and says each that did not. */
export async function oneOf(name, look, most = 3) {
  for (let tries = 1; ; tries++) {
    try {
      return await look(tries)
    } catch (e) {
      if (!(e instanceof Unlike) || tries === most) throw e
      console.log(`again ${name}: ${e.message}`)
    }
  }
}
