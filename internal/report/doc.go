// Package report makes people's reports of a period: keys that got hot, keys that will,
// resolved incidents, and unseen parts.
//
// [Load] reads the rows of a period from the store. [New] makes a [Report] of them: a
// plain value of codes and figures, made without a clock and without I/O, which the store
// keeps. [Report.Write] renders one, with its sentences, as HTML, Markdown, JSON or CSV. Package report/schedule
// makes each due report once.
//
// Unknown values are nil or absent, never zero, and the report mentions them: a period
// without collectors was not a quiet one.
//
// Keys, table names and text about them come from others. They are escaped in every
// format, and cut on pages for people; JSON and CSV have them whole.
package report
