// Package casebook has one file for each answer to "why does DynamoDB refuse, or soon refuse,
// these requests?". A [Case] declares all that is decided about its findings: when it is the
// answer, what to do tonight, and whether it heals by itself. [New] answers on-call's five
// questions about a finding, as codes and figures. The package is pure, and writes no sentence:
// internal/say has a file of words for each case.
package casebook
