// Package schedule makes each report once when it is due, however many reporters share a
// store and however often they are killed.
//
// # When
//
// A schedule is a cron expression in a time zone. Its times follow a clock on a wall
// there, and each is due once: a time that the clock skips when daylight saving begins is
// due when the clock has skipped it, and a time that the clock shows twice is due the
// first time.
//
// # Once
//
// One reporter at a time makes reports: it holds a lease. If two do, the store accepts a
// schedule's report of a due time from one of them. Of several missed due times the last
// is made up, for the time since the report before it, so that the reports cover all
// time.
//
// A report is stored first, and then written to its schedule's folder; a folder that
// cannot be written is tried again until it can.
package schedule
