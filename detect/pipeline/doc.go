// Package pipeline judges Keyheat's own health: whether anybody collects, how far what
// is counted is behind, and what of the samples was rejected, refused or lost. A calm
// page over a pipeline that has stopped is no health, so each of these makes a finding
// of its own, about no table, with the cause [detect.CausePipeline].
//
// A [Watch] is shown a [Status] every few seconds. What nobody reports is unknown: it
// opens no finding and ends none. Nothing is held against the time in which the watch
// itself did not look, such as before the judge started or while the database was away.
package pipeline
