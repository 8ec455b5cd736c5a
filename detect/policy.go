package detect

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/keyheat/keyheat/shardkey"
)

// Policy is what an operator decides for a table.
type Policy struct {
	// Warning is the share of a limit from which a key is worth a warning, in
	// (0,1].
	Warning float64
	// Headroom is by how much a shard count exceeds the peak's bare need, from
	// MinHeadroom to MaxHeadroom.
	Headroom float64
	// MinUnits is the least peak of a table or index, in units a second of
	// reads or writes, from which its key design is judged.
	MinUnits float64
	// Severest caps the severity: below Warning nothing pages. Empty caps nothing.
	Severest Severity
	// Suffix is the form of the names of new shards; nil is the form that the
	// key has already, or BASE#SHARD_7. With it, a key of that form is known to
	// be a shard, also where the form is only a number.
	Suffix *shardkey.Form
	// HoldUnconfirmed keeps a finding from paging while CloudWatch, where it is read,
	// counts nothing that was throttled in the finding's minutes.
	HoldUnconfirmed bool
	// ScaleByCoverage has a finding say what its key's load is if the requests that the
	// samples do not show, by CloudWatch's count, are spread over keys as they are. It
	// changes no severity: nothing proves that.
	ScaleByCoverage bool
	// Lifecycle is that of incidents; Warnings is that of those which are no worse than
	// a warning, nil for the same one.
	Lifecycle
	Warnings *Lifecycle
	// Exclude are patterns (path.Match) of keys that no finding is made of.
	Exclude []string
	// Owner is who answers for the table, Labels are what else its incidents are
	// matched by. Both are the operator's own words.
	Owner  string
	Labels map[string]string
	// RunbookURL is where the owner's own instructions are, with {kind} for the kind of
	// the finding that an incident is about; empty for nowhere.
	RunbookURL string
}

// kindInURL stands in a RunbookURL for the kind of a finding.
const kindInURL = "{kind}"

// Runbook returns the address of the instructions for a kind; empty for none.
func (p Policy) Runbook(k Kind) string {
	return strings.ReplaceAll(p.RunbookURL, kindInURL, url.PathEscape(string(k)))
}

// maxURL bounds an address, in bytes: Slack takes 3,000 of a button's, kind and all.
const maxURL = 2000

// checkRunbook returns what is wrong with the address of instructions. It is sent to all
// receivers, so that it holds no password.
func (p Policy) checkRunbook() error {
	if p.RunbookURL == "" {
		return nil
	}
	address := p.Runbook(HotKeyWrite)
	u, err := url.Parse(address)
	switch {
	case len(p.RunbookURL) > maxURL:
		return fmt.Errorf("runbook URL of %d bytes: give at most %d", len(p.RunbookURL), maxURL)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.ContainsAny(address, " <>\"`"):
		return fmt.Errorf("runbook URL %q: write https://wiki.example.com/dynamodb, an absolute address of http or https", p.RunbookURL)
	case u.User != nil:
		return errors.New("a runbook URL with a user: all receivers are told of it, so give one without a password")
	case strings.ContainsAny(address, "{}"):
		return fmt.Errorf("runbook URL %q: only %s is replaced: take the other braces out", p.RunbookURL, kindInURL)
	}
	return nil
}

// Lifecycle says when incidents fire, and when they are over.
type Lifecycle struct {
	// OnHarm has an incident of hot keys fire only on harm that lasts: see
	// [Finding.Lasting]. Else it fires as its findings do, FireSeconds of FireOf seconds
	// above the policy's share, once it has held for For.
	OnHarm bool
	For    time.Duration
	// KeepFiring is for how long, beyond its last hot second, an incident goes on firing:
	// one that is hot again within that time goes on, and pages no more.
	KeepFiring time.Duration
	// Repeat is after which time a firing incident is told of again; never when zero.
	Repeat time.Duration
}

// LifecycleOf returns the lifecycle of an incident that is so severe.
func (p Policy) LifecycleOf(s Severity) Lifecycle {
	if p.Warnings != nil && s != Critical {
		return *p.Warnings
	}
	return p.Lifecycle
}

// validate returns what is wrong with a lifecycle.
func (l Lifecycle) validate() error {
	switch {
	case min(l.For, l.KeepFiring, l.Repeat) < 0:
		return errors.New("a negative time: give 0 or more")
	case l.Repeat > 0 && l.Repeat < MinRepeat:
		return fmt.Errorf("repeat is %s: give at least %s, or 0 for never", l.Repeat, MinRepeat)
	}
	return nil
}

// DefaultPolicy returns the policy of a table that the operator decided nothing for.
func DefaultPolicy() Policy {
	return Policy{Warning: DefaultWarning, Headroom: DefaultHeadroom, MinUnits: DefaultMinUnits}
}

// Validate returns what is wrong with a policy, and nil when nothing is.
func (p Policy) Validate() error {
	switch {
	case !(p.Warning > 0 && p.Warning <= 1):
		return fmt.Errorf("warning is %v: give the share of the limit to warn at, over 0 and up to 1", p.Warning)
	case !(p.Headroom >= MinHeadroom && p.Headroom <= MaxHeadroom):
		return fmt.Errorf("headroom is %v: give a factor from %d to %d, 1.5 is usual", p.Headroom, MinHeadroom, MaxHeadroom)
	case !(p.MinUnits >= 0):
		return fmt.Errorf("minimum traffic is %v: give units a second, 0 or more", p.MinUnits)
	case Rank(p.Severest) < 0:
		return fmt.Errorf("severity %q: give critical, warning or info", p.Severest)
	}
	for _, s := range []Severity{Critical, Warning} {
		if err := p.LifecycleOf(s).validate(); err != nil {
			return err
		}
	}
	for name := range p.Labels {
		if !labelName.MatchString(name) {
			return fmt.Errorf("label %q: a name begins with a letter or _, and has letters, digits and _ besides, as Alertmanager takes it", name)
		}
	}
	for _, pattern := range p.Exclude {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("excluded key %q: %w: * stands for any text without /, ? for one character", pattern, err)
		}
	}
	return p.checkRunbook()
}

// MinRepeat is the least time between two messages of which the second says nothing
// new.
const MinRepeat = time.Minute

// labelName is what Prometheus and Alertmanager take for the name of a label.
var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Excludes reports whether a key is one that no finding is made of.
func (p Policy) Excludes(key string) bool {
	for _, pattern := range p.Exclude {
		if match, _ := path.Match(pattern, key); match || pattern == key {
			return true
		}
	}
	return false
}

// Cap returns the severity, or the policy's severest where that is less.
func (p Policy) Cap(s Severity) Severity {
	if p.Severest != "" && Rank(s) > Rank(p.Severest) {
		return p.Severest
	}
	return s
}

// Rank returns the place of a severity in their order: 0 for none, above that for
// worse ones, below that for what is not a severity.
func Rank(s Severity) int {
	switch s {
	case "":
		return 0
	case Info:
		return 1
	case Warning:
		return 2
	case Critical:
		return 3
	}
	return -1
}
