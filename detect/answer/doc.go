// Package answer answers on-call's five questions about a finding, as codes and figures:
// harm, cause, action for now, healing by itself, and the lasting fix. It is pure, and
// writes no sentence: internal/say does.
package answer
