// Package report makes the reports that people get of a period: what got hot, what
// will, what healed, and what could not be seen.
//
// [Load] reads the rows of a period from the store. [New] makes a [Report] of them: a
// plain value, made without a clock and without I/O, which is what the store keeps.
// [Report.Write] renders one as HTML, Markdown, JSON or CSV. Package
// digest/schedule says when reports are due, and makes each once.
//
// What nothing tells is nil or absent, never zero, and the report says so: a period
// that no collector wrote in was not a quiet one.
//
// Keys, names of tables, and what is written about them come from others. They are
// escaped in every format, and cut where a page is for people; JSON and CSV have them
// whole.
package report
