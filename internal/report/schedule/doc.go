// Package schedule says when reports are due, and makes each once, however many
// reporters share a store and however often they are killed.
//
// # When
//
// A schedule is a cron expression in a time zone. Its times are those of a clock on a
// wall there, and each is due once: a time that the clock skips when daylight saving
// begins is due when the clock has skipped it, and a time that the clock shows twice
// is due the first time.
//
// # Once
//
// One reporter at a time makes reports: it holds a lease. Should two, the store takes
// a schedule's report of a due time from one of them. Of several due times that were
// missed the last is made up, for the time since the report before it, so that no time
// is in no report.
//
// A report is stored first, and written to its schedule's folder then; a folder that
// cannot be written is tried again until it can.
package schedule
