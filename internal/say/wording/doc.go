// Package wording writes numbers, shares and keys for people, so that the command
// line, the pages and the advice write them alike: thousands separated by commas,
// 12% and not "12 percent", at most three significant digits where an amount is an estimate.
package wording
