// Package answer answers on-call's five questions about a finding, as codes and figures:
// who is harmed, why, what to do now, whether it heals by itself, and what mends it for
// good. It is pure, and writes no sentence: internal/say does.
package answer
