package analyze

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
)

var csvColumns = []string{
	"fingerprint", "case", "subject", "table", "index", "key", "key_type", "severity", "state",
	"peak_at", "peak_wcu", "peak_wcu_low", "peak_wcu_high", "peak_rcu", "peak_rcu_low", "peak_rcu_high",
	"mean_wcu", "mean_rcu", "over_seconds", "possible_seconds", "saturated_seconds",
	"utilization", "share", "ground", "shards", "first_seen", "last_seen", "account", "region", "note",
}

// The kinds of the CSV row that limits the findings.
const (
	kindUnjudged = "not_judged"
	kindPartly   = "partly_judged"
)

// note returns the kind and the text of a row about the unjudged part; empty if all was
// judged. Without this row, no findings would look like no hot keys.
func (r *Result) note() (kind, note string) {
	parts := []string{say.IntakeShare(&r.Samples), say.RepeatedIDs(&r.Samples)}
	switch {
	case !r.Samples.Judged:
		kind, parts = kindUnjudged, []string{say.IntakeFailure(&r.Samples)}
	case r.Samples.Partial() || r.Samples.RepeatsMuch() || len(r.Gaps) > 0:
		kind = kindPartly
	default:
		return "", ""
	}
	for i := range r.Gaps {
		parts = append(parts, notCounted(&r.Gaps[i]))
	}
	return kind, strings.TrimSpace(strings.Join(append(parts, say.Faults(&r.Samples)...), " "))
}

func (r *Result) writeCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	_ = w.Write(csvColumns) // Error returns the first error
	if kind, note := r.note(); kind != "" {
		row := make([]string, len(csvColumns))
		row[1], row[len(row)-1] = kind, wording.Cell(note)
		_ = w.Write(row)
	}
	roots := rootsByIncident(r.Findings)
	for i := range r.Findings {
		f := &r.Findings[i]
		_ = w.Write(csvRecord(f, roots[f.Incident]))
	}
	w.Flush()
	return w.Error()
}

func rootsByIncident(found []detect.Finding) map[string]*detect.Finding {
	roots := map[string]*detect.Finding{}
	for _, group := range casebook.Roots(found) {
		roots[group[0].Incident] = group[0]
	}
	return roots
}

func csvRecord(f, root *detect.Finding) []string {
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	decimal := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return []string{
		f.Fingerprint, string(f.Case), string(f.Subject), wording.Cell(f.Table), wording.Cell(f.Index), wording.Cell(f.Key), f.KeyType, string(f.Severity), string(f.State),
		at(f.Peak.At), decimal(f.Peak.WCU.Value), decimal(f.Peak.WCU.Low), decimal(f.Peak.WCU.High),
		decimal(f.Peak.RCU.Value), decimal(f.Peak.RCU.Low), decimal(f.Peak.RCU.High),
		decimal(f.Mean.WCU.Value), decimal(f.Mean.RCU.Value),
		provenOver(f), strconv.Itoa(f.PossibleSeconds), strconv.Itoa(f.SaturatedSeconds),
		decimal(f.Utilization), decimal(f.Share), string(f.Ground), shardsCell(f, root),
		at(f.FirstSeen), at(f.LastSeen), wording.Cell(f.Account), wording.Cell(f.Region), "",
	}
}

// provenOver returns the number of seconds in which a finding's load is proven over the
// limit, without the possible ones; empty if unknown.
func provenOver(f *detect.Finding) string {
	if f.OverSeconds == nil {
		return ""
	}
	return strconv.Itoa(*f.OverSeconds)
}
