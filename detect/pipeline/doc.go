// Package pipeline judges Keyheat's own health: whether a collector runs, how far
// counting lags behind, and whether samples were rejected, refused or lost. A calm page
// over a stopped pipeline is no health, so each problem makes a finding of its own, with the
// subject [detect.SubjectPipeline], about no table or, if its samples stop, about one.
//
// A [Watch] looks at a [Status] every few seconds. An unreported figure is unknown: it
// opens no finding and ends none. Time without a look does not count, such as before the
// judge started or while the database was away.
package pipeline
