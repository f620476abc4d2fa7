// Package statistics has the tests, intervals and fits that experiments rest on.
//
// It hides the distributions: exact ones where samples are small, what is done
// about ties, how boundaries of repeated looks are found, how intervals are
// corrected for bias and skew. Functions take plain numbers: [SignedRank] tests
// pairs and [MannWhitney] unpaired sets, [HodgesLehmann] and [Shift] say by how
// much they differ, [Bootstrap] how sure that is, [Boundaries], [Constant] and
// [Holm] what may be claimed after several looks or through several metrics.
//
// statistics knows nothing of programs, never looks at the clock, and gives the
// same for the same numbers and seed.
package statistics
