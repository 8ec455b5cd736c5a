package store

import (
	"context"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// IncidentHead is as much of an incident as a list of many is searched and ordered by,
// with its root finding's key and utilization; these are empty where the finding is no
// longer kept.
type IncidentHead struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Severity string `json:"severity"`
	sample.Target
	// Root is the fingerprint of the finding that stands for the others.
	Root        string      `json:"-"`
	Case        string      `json:"case"`
	Subject     string      `json:"subject"`
	Key         sample.Text `json:"key"`
	Utilization float64     `json:"utilization"`
	OpenedAt    time.Time   `json:"opened_at"`
	LastSeen    time.Time   `json:"last_seen"`
}

// HeadQuery chooses incidents. The zero value chooses all; an empty field chooses any.
type HeadQuery struct {
	State, Severity, Account, Region, Table string
	// Search is text that the table, or the key of any finding of the incident,
	// holds; letters of ASCII match in either case.
	Search string
	// Since chooses incidents seen at this time or later; the zero value chooses all.
	Since time.Time
	Limit int
}

// IncidentHeads returns the heads of a query's incidents: firing ones first, then
// pending, then resolved ones; critical ones first; then the most utilised.
func (s *Store) IncidentHeads(ctx context.Context, q HeadQuery) ([]IncidentHead, error) {
	since := q.Since
	if since.IsZero() {
		since = Beginning
	}
	return list(ctx, s, "read the heads of incidents", func(h *IncidentHead) []any {
		return append(targetFields(&h.Target), &h.ID, &h.Severity, &h.State, &h.OpenedAt, &h.LastSeen, &h.Root, &h.Case, &h.Subject, &h.Key, &h.Utilization)
	}, `
		SELECT `+targetColumns+`, i.id, i.severity, i.state, i.opened_at, i.last_seen, i.root,
			i.case_code, i.subject, COALESCE(r.key_text, ''), COALESCE(r.utilization, 0)
		FROM incidents AS i JOIN targets AS t ON t.id = i.target LEFT JOIN findings AS r ON r.fingerprint = i.root
		WHERE ($1 = '' OR i.state = $1) AND ($2 = '' OR i.severity = $2)
			AND ($3 = '' OR t.table_name = $3) AND ($4 = '' OR t.account = $4) AND ($5 = '' OR t.region = $5)
			AND ($6 = '' OR lower(t.table_name) LIKE $6 ESCAPE '!' OR EXISTS (
				SELECT 1 FROM incident_findings AS m JOIN findings AS f ON f.fingerprint = m.fingerprint
				WHERE m.incident = i.id AND lower(f.key_text) LIKE $6 ESCAPE '!'))
			AND (NOT $8 OR i.last_seen >= $9)
		ORDER BY CASE i.state WHEN 'firing' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END,
			CASE i.severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
			COALESCE(r.utilization, 0) DESC, i.id LIMIT $7`,
		q.State, q.Severity, clean(q.Table), clean(q.Account), clean(q.Region), holding(q.Search), limit(q.Limit), !q.Since.IsZero(), utc(since))
}

// OpenIncidents is how many incidents of a table or index are not over.
type OpenIncidents struct {
	sample.Target
	Firing, Pending int64
}

// OpenIncidents counts the open incidents, by table and index; incidents without a table
// have the zero target.
func (s *Store) OpenIncidents(ctx context.Context) ([]OpenIncidents, error) {
	return list(ctx, s, "count open incidents", func(o *OpenIncidents) []any {
		return append(targetFields(&o.Target), &o.Firing, &o.Pending)
	}, `
		SELECT `+targetColumns+`, count(CASE i.state WHEN 'firing' THEN 1 END), count(CASE i.state WHEN 'pending' THEN 1 END)
		FROM incidents AS i JOIN targets AS t ON t.id = i.target
		WHERE i.state IN ('firing', 'pending')
		GROUP BY `+targetColumns+` ORDER BY t.table_name, t.index_name, t.account, t.region`)
}

// IncidentCount is a number of open incidents.
type IncidentCount struct {
	State, Severity, Case string
	Incidents             int64
}

// CountIncidents counts the open incidents of all tables, by state, severity and case.
func (s *Store) CountIncidents(ctx context.Context) ([]IncidentCount, error) {
	return list(ctx, s, "count incidents by case", func(c *IncidentCount) []any {
		return []any{&c.State, &c.Severity, &c.Case, &c.Incidents}
	}, `
		SELECT state, severity, case_code, count(*) FROM incidents
		WHERE state IN ('firing', 'pending')
		GROUP BY state, severity, case_code ORDER BY state, severity, case_code`)
}

// FindingHead is as much of a finding as links to it need.
type FindingHead struct {
	Fingerprint string
	sample.Target
	Case, Subject, State string
	Key                  sample.Text
}

const findingHeadColumns = targetColumns + `, f.fingerprint, f.case_code, f.subject, f.key_text, f.state`

func (f *FindingHead) fields() []any {
	return append(targetFields(&f.Target), &f.Fingerprint, &f.Case, &f.Subject, &f.Key, &f.State)
}

// OpenFindings returns the heads of open findings, at most so many, 0 for DefaultLimit:
// firing ones first, then the most utilised.
func (s *Store) OpenFindings(ctx context.Context, most int) ([]FindingHead, error) {
	return list(ctx, s, "read the heads of open findings", (*FindingHead).fields, `
		SELECT `+findingHeadColumns+` FROM findings AS f JOIN targets AS t ON t.id = f.target
		WHERE f.state IN ('firing', 'pending')
		ORDER BY f.state, f.utilization DESC, f.fingerprint LIMIT $1`, limit(most))
}

// FindingHeads returns the heads of the findings of a table or index, at most so many: firing
// ones first, then pending, then resolved ones; critical ones first; then the most utilised.
func (s *Store) FindingHeads(ctx context.Context, of sample.Target, most int) ([]FindingHead, error) {
	return list(ctx, s, "read the heads of findings", (*FindingHead).fields, `
		SELECT `+findingHeadColumns+` FROM findings AS f JOIN targets AS t ON t.id = f.target
		WHERE `+isTarget+`
		ORDER BY CASE f.state WHEN 'firing' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END,
			CASE f.severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
			f.utilization DESC, f.fingerprint LIMIT $5`, targetArgs(of, most)...)
}

// holding returns a pattern of texts that hold a text; empty for the empty text.
func holding(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(clean(text))) + "%"
}
