package silence

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/incident"
	"github.com/keyheat/keyheat/internal/settings/options"
)

const labelPrefix = "labels."

var names = []string{"account", "region", "table", "index", "case", "subject", "severity", "owner", "incident"}

// Names returns the names of an incident's texts, beside the names of labels.
func Names() []string { return slices.Clone(names) }

// text returns an incident's text under one of the names, or under labels.NAME of the
// table's policy; empty for none.
func text(name string, i *detect.Incident) string {
	switch name {
	case "account":
		return i.Account
	case "region":
		return i.Region
	case "table":
		return i.Table
	case "index":
		return i.Index
	case "case":
		return string(i.Case)
	case "subject":
		return string(i.Subject)
	case "severity":
		return string(i.Severity)
	case "owner":
		return i.Owner
	case "incident":
		return i.ID
	}
	return i.Labels[strings.TrimPrefix(name, labelPrefix)]
}

// texts returns the texts of an incident with its root finding under one of the names. It
// is one text, except for the Regions of writes to a global table, which load each Region
// alike.
func texts(name string, i *detect.Incident, root *detect.Finding) []string {
	if name == "region" && root.Replication != nil && len(root.Replication.Regions) > 0 {
		return root.Replication.Regions
	}
	return []string{text(name, i)}
}

func isName(name string) bool {
	return slices.Contains(names, name) || strings.HasPrefix(name, labelPrefix) && name != labelPrefix
}

// CheckWord returns an error, with the nearest word, if a word is no case or no
// subject, by the name of the text: it would choose nothing.
func CheckWord(name, word string) error {
	return checkPattern(name, word, func(text string) bool { return text == word })
}

// checkPattern is CheckWord for a pattern, and its match.
func checkPattern(name, pattern string, matches func(text string) bool) error {
	var known []string
	switch name {
	case "case":
		known = casebook.Names()
	case "subject":
		known = detect.Subjects()
	default:
		return nil
	}
	if pattern == "" || slices.ContainsFunc(known, matches) {
		return nil
	}
	return fmt.Errorf("there is no %s %.80q%s", name, pattern, options.Suggest(pattern, known))
}

// Matcher compares one text of incidents, as a matcher of Alertmanager does.
type Matcher struct {
	// Name is the text's: account, region, table, index, case, subject, severity, owner,
	// incident or labels.NAME. A missing text is empty.
	Name string
	// Op is =, != with the value, or =~, !~ with it as a regular expression of all of
	// the text.
	Op, Value  string
	expression *regexp.Regexp
}

// maxValue bounds a value, and so the cost of its regular expression.
const maxValue = 1024

func newMatcher(name, op, value string) (m Matcher, err error) {
	m = Matcher{Name: name, Op: op, Value: value}
	switch {
	case !isName(name):
		return m, fmt.Errorf("there is no %.40q: give %s or %sNAME", name, strings.Join(names, ", "), labelPrefix)
	case len(name)+len(value) > maxValue:
		return m, fmt.Errorf("%d bytes are too long: give at most %d", len(name)+len(value), maxValue)
	case !IsLine(name) || !IsLine(value):
		return m, errors.New("give one line of text")
	}
	switch op {
	case "=", "!=":
		if name == "severity" && value != "" {
			return m, incident.CheckSeverity(value)
		}
		if (name == "table" || name == "index") && strings.ContainsAny(value, "*?[") {
			return m, fmt.Errorf("no %s is called %.80q, and * stands for itself: write a regular expression, such as %s=~\"orders-.*\"", name, value, name)
		}
		return m, CheckWord(name, value)
	case "=~", "!~":
		// By itself first: in parentheses, a)|(b would be an expression of parts of a text.
		if _, err := regexp.Compile(value); err != nil {
			return m, err
		}
		if m.expression, err = regexp.Compile("^(?:" + value + ")$"); err != nil {
			return m, err
		}
		return m, checkPattern(name, value, m.expression.MatchString)
	}
	return m, fmt.Errorf("%q is no comparison: give =, !=, =~ or !~", op)
}

// IsLine reports whether a text is one line of text, as databases, terminals and pages
// take it.
func IsLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// ParseMatcher reads a matcher as Alertmanager writes it: table=orders, table="orders" or
// table=~"orders-.*". In quotes, \" is a quote and \\ a backslash.
func ParseMatcher(s string) (Matcher, error) {
	var none Matcher
	s = strings.TrimSpace(s)
	at := strings.IndexAny(s, "=!")
	if at < 0 {
		return none, fmt.Errorf("%.80q compares nothing: write NAME=VALUE, or with !=, =~ or !~", s)
	}
	name, rest := strings.TrimSpace(s[:at]), s[at:]
	op := rest[:1]
	if len(rest) > 1 && (rest[1] == '~' || rest[:2] == "!=") {
		op = rest[:2]
	}
	value, err := unquote(strings.TrimSpace(rest[len(op):]))
	if err != nil {
		return none, fmt.Errorf("%.80q: %w", s, err)
	}
	m, err := newMatcher(name, op, value)
	if err != nil {
		return none, fmt.Errorf("%.80q: %w", s, err)
	}
	return m, nil
}

// unquote returns a value without its quotes, if it has some.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"' && i == len(s)-1:
			return b.String(), nil
		case s[i] == '"':
			return "", errors.New(`text follows the quotes: write \" for a quote`)
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", errors.New("the quotes are not closed")
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// String writes a matcher as ParseMatcher reads it.
func (m Matcher) String() string { return m.Name + m.Op + `"` + quoter.Replace(m.Value) + `"` }

// Matches reports whether the matcher chooses an incident with its root finding. One of
// writes to a global table is in all of the table's Regions: a matcher of the Region has
// to choose each.
func (m Matcher) Matches(i *detect.Incident, root *detect.Finding) bool {
	return !slices.ContainsFunc(texts(m.Name, i, root), func(text string) bool { return !m.matches(text) })
}

// MatchesNothing reports whether the matcher chooses incidents that do not have its
// text, too.
func (m Matcher) MatchesNothing() bool { return m.matches("") }

func (m Matcher) matches(text string) bool {
	switch m.Op {
	case "=":
		return text == m.Value
	case "!=":
		return text != m.Value
	case "=~":
		return m.expression.MatchString(text)
	}
	return !m.expression.MatchString(text)
}
