// A list of checks, run one after another. One that fails does not end the others.

let passed = 0
const failed = []

/** Runs one check and says how it went. */
export async function check(name, run) {
  const start = Date.now()
  try {
    await run()
    passed++
    console.log(`ok    ${name} (${Date.now() - start} ms)`)
  } catch (e) {
    failed.push(name)
    console.log(`FAIL  ${name}\n      ${String(e?.message ?? e).split('\n').slice(0, 30).join('\n      ')}`)
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

/** Waits until something is so, asking again and again. */
export async function until(what, ask, ms = 15_000) {
  const end = Date.now() + ms
  for (;;) {
    const got = await ask()
    if (got) return got
    must(Date.now() < end, `waited ${ms} ms for ${what}`)
    await new Promise((r) => setTimeout(r, 20))
  }
}
