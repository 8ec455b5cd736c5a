package detect

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/shardkey"
)

// The defaults and bounds of a [Policy].
const (
	// DefaultWarning is the share of a limit that makes a key worth a warning.
	DefaultWarning = 0.8
	// DefaultHeadroom is the factor on a shard count over the peak's bare need; AWS's
	// examples use 1.5 to 2.
	DefaultHeadroom = 1.5
	// MinHeadroom is the bare need.
	MinHeadroom = 1
	// MaxHeadroom guards against typing errors.
	MaxHeadroom = 100
	// MinUnits is the least peak of a table, in units a second, for a verdict on its key
	// design. No design is hot below it.
	MinUnits = 10
)

// Policy holds an operator's decisions for a table.
type Policy struct {
	// Warning is the share of the limit that makes a key worth a warning, in (0,1].
	Warning float64
	// Headroom is the factor on a shard count over the peak's bare need, from MinHeadroom
	// to MaxHeadroom.
	Headroom float64
	// Severest caps the severity; empty caps nothing. Info sends no alerts.
	Severest Severity
	// Suffix is the format of new shards' names. Nil keeps the key's existing format, or
	// uses BASE#SHARD_7. A key of this format is known to be a shard, even if the format
	// is only a number.
	Suffix *shardkey.Form
	// HoldUnconfirmed holds back a finding's alert while CloudWatch counts no throttling
	// in the finding's minutes, if Keyheat reads CloudWatch for the table.
	HoldUnconfirmed bool
	// Lifecycle applies to incidents. Warnings applies to incidents no worse than a
	// warning; nil means Lifecycle.
	Lifecycle
	Warnings *Lifecycle
	// Quiet is the time of day in which missing samples are no fault; nil for none.
	Quiet *QuietHours
	// Exclude are patterns (path.Match) of keys without findings.
	Exclude []string
	// Owner is responsible for the table. Labels are further labels that routes and
	// silences match. Both are the operator's own words.
	Owner  string
	Labels map[string]string
	// WritePrice and ReadPrice are the price of a million write and read request units, in
	// US dollars; 0 if unknown.
	WritePrice, ReadPrice float64
	// WarmWritePrice and WarmReadPrice are the price of one write and read unit a second of
	// warm throughput, paid once, in US dollars; 0 if unknown.
	WarmWritePrice, WarmReadPrice float64
	// RunbookURL is the address of the owner's own instructions; empty for none. {case}
	// stands for the case of the incident's root finding.
	RunbookURL string
}

const caseInURL = "{case}"

// Runbook returns the address of the instructions for a case; empty for none.
func (p Policy) Runbook(c Case) string {
	return strings.ReplaceAll(p.RunbookURL, caseInURL, url.PathEscape(string(c)))
}

// maxURL bounds an address in bytes: a Slack button takes 3,000, including the case.
const maxURL = 2000

// checkRunbook checks the address of instructions. All receivers see it, so it must hold
// no password.
func (p Policy) checkRunbook() error {
	if p.RunbookURL == "" {
		return nil
	}
	address := p.Runbook("hot_key")
	u, err := url.Parse(address)
	switch {
	case len(p.RunbookURL) > maxURL:
		return fmt.Errorf("runbook URL of %d bytes: give at most %d", len(p.RunbookURL), maxURL)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.ContainsAny(address, " <>\"`"):
		return fmt.Errorf("runbook URL %q: write https://wiki.example.com/dynamodb, an absolute address of http or https", p.RunbookURL)
	case u.User != nil:
		return errors.New("a runbook URL with a user: all receivers see it, so give one without a password")
	case strings.ContainsAny(address, "{}"):
		return fmt.Errorf("runbook URL %q: only %s is replaced: take the other braces out", p.RunbookURL, caseInURL)
	}
	return nil
}

// Lifecycle sets when incidents fire, repeat, and resolve.
type Lifecycle struct {
	// OnHarm makes an incident of hot keys fire only on lasting harm: see
	// [Finding.Lasting]. Otherwise it fires like its findings: after FireSeconds of
	// FireOf seconds above the policy's share, once it has lasted for For.
	OnHarm bool
	For    time.Duration
	// KeepFiring is the time that an incident goes on firing after its last hot second.
	// Heat within that time continues the incident without another alert.
	KeepFiring time.Duration
	// Repeat is the interval for sending a firing incident again; zero means never.
	Repeat time.Duration
}

// LifecycleOf returns the lifecycle of an incident of a severity.
func (p Policy) LifecycleOf(s Severity) Lifecycle {
	if p.Warnings != nil && s != Critical {
		return *p.Warnings
	}
	return p.Lifecycle
}

func (l Lifecycle) validate() error {
	switch {
	case min(l.For, l.KeepFiring, l.Repeat) < 0:
		return errors.New("a negative time: give 0 or more")
	case l.Repeat > 0 && l.Repeat < minRepeat:
		return fmt.Errorf("repeat is %s: give at least %s, or 0 for never", l.Repeat, minRepeat)
	}
	return nil
}

// DefaultPolicy returns the policy of a table without decisions by the operator.
func DefaultPolicy() Policy {
	return Policy{Warning: DefaultWarning, Headroom: DefaultHeadroom}
}

// Validate returns an error that names the first invalid value of a policy.
func (p Policy) Validate() error {
	switch {
	case !(p.Warning > 0 && p.Warning <= 1):
		return fmt.Errorf("warning is %v: give the share of the limit to warn at, over 0 and up to 1", p.Warning)
	case !(p.Headroom >= MinHeadroom && p.Headroom <= MaxHeadroom):
		return fmt.Errorf("headroom is %v: give a factor from %d to %d, 1.5 is usual", p.Headroom, MinHeadroom, MaxHeadroom)
	case !(p.WritePrice >= 0 && p.WritePrice <= maxPrice):
		return fmt.Errorf("write price is %v: give US dollars for a million request units, such as 0.625, or 0 if it is unknown", p.WritePrice)
	case !(p.ReadPrice >= 0 && p.ReadPrice <= maxPrice):
		return fmt.Errorf("read price is %v: give US dollars for a million request units, such as 0.125, or 0 if it is unknown", p.ReadPrice)
	case !(p.WarmWritePrice >= 0 && p.WarmWritePrice <= maxPrice):
		return fmt.Errorf("warm write price is %v: give US dollars for one write unit a second of warm throughput, or 0 if it is unknown", p.WarmWritePrice)
	case !(p.WarmReadPrice >= 0 && p.WarmReadPrice <= maxPrice):
		return fmt.Errorf("warm read price is %v: give US dollars for one read unit a second of warm throughput, or 0 if it is unknown", p.WarmReadPrice)
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

// maxPrice is far above AWS's prices, for a million request units or a warm one.
const maxPrice = 1000

// minRepeat is the least interval between two messages with the same news.
const minRepeat = time.Minute

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Excludes reports whether the policy excludes a key from findings.
func (p Policy) Excludes(key string) bool {
	for _, pattern := range p.Exclude {
		if match, _ := path.Match(pattern, key); match || pattern == key {
			return true
		}
	}
	return false
}

// Cap returns the lesser of a severity and the policy's severest.
func (p Policy) Cap(s Severity) Severity {
	if p.Severest != "" && Rank(s) > Rank(p.Severest) {
		return p.Severest
	}
	return s
}

// Rank orders the severities: 0 for none, higher for worse ones, negative for an unknown
// one.
func Rank(s Severity) int { return slices.Index([]Severity{"", Info, Warning, Critical}, s) }
