package main

import (
	"regexp"
	"strings"
)

// limitsFile is the one place of DynamoDB's limits and of the numbers that Keyheat decides
// by.
const limitsFile = "detect/limits.go"

// limited are the packages, with those below, that decide by limits or show them.
var limited = []string{"detect", "internal/analyze", "internal/judge", "internal/web"}

var (
	// limitNumber finds a partition's or a table's limit as a number.
	limitNumber = regexp.MustCompile(`\b(3_?000|1_000_000|3_000_000|40_?000|12_?000|180_?000)\b|[wr]cu\w*\s*/\s*1_?000\b`)
	// limitText finds a partition's limit in a sentence.
	limitText = regexp.MustCompile(`(?i)\b(1,?000|3,?000)( |-)?(wcu|rcu|write|read)|\b(wcu|rcu)\b[^.]{0,30}\bof (1,000|3,000)\b`)
)

// notALimit in a line's comment, with a reason behind it, exempts the line.
const notALimit = "// not a limit: "

// limitProblems reports lines outside limitsFile that hold a limit.
func limitProblems(m *module) []problem {
	var all []problem
	for _, p := range m.packages {
		for _, f := range p.sources {
			if f.path == limitsFile || !isLimited(p.path) {
				continue
			}
			for n, line := range strings.Split(f.text, "\n") {
				code, comment, _ := strings.Cut(line, "//")
				if strings.HasPrefix("//"+comment, notALimit) || strings.TrimSpace(code) == "" {
					continue
				}
				if found := limitNumber.FindString(code) + limitText.FindString(code); found != "" {
					all = append(all, problem{f.at(n), "use the constant of " + limitsFile + " instead of " + strings.TrimSpace(found) + ", or add " + notALimit + "REASON"})
				}
			}
		}
	}
	return all
}

func isLimited(path string) bool {
	for _, root := range limited {
		if within(path, root) {
			return true
		}
	}
	return false
}
