package rules

// worthwhile is the smallest growth of throughput that a finding may
// promise. Less can hardly be told from noise: ten interleaved runs on two
// shared cores showed a true 10% in only one try of five.
const worthwhile = 1.1

// minShare is the smallest share of the CPU in use that a finding about CPU
// cost is made of. The catalogue calls 2% worth knowing.
const minShare = 0.02

// minBusy, in cores, keeps the factor of a program that hardly ran finite.
const minBusy = 0.1

// surplusPs is the fewest Ps of which some can be surplus. With two or
// three, the one that would go is the one that keeps the collector and
// a burst from stopping everything else.
const surplusPs = 4

// lookWaiters is how many must wait for a lock when it is seen only once, without
// a time. Of a lock in use 72% of the time eight or more wait in 5% of looks, by
// the queue M/M/1; of one in use half of the time, in 0.2%.
const lookWaiters = 8

// hotGarbage is the part of the allocator's time under some code from which the
// garbage is its symptom.
const hotGarbage = 0.7

// burstsShare is the share of the CPU from which those who are ready wait for what takes it: a handshake of TLS keeps a P
// for a millisecond, and so does a reader that asks the kernel for each byte. Twelve clients that share two idle connections
// are at 0.5, gauges whose lines are read byte by byte at 0.32.
const burstsShare = 0.25

// leastCores is the least CPU in use that is worth accusing of what it goes into: kinds of work,
// and pools that nothing comes back to.
const leastCores = 0.1
