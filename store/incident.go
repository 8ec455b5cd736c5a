package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Incident is the unit of alerting: the findings that one case explains. It has columns for
// searching and ordering, and the whole in the document.
type Incident struct {
	// ID names the incident; it is a hash of the incident's subject.
	ID string
	// Case and Subject are those of its root.
	Case, Subject string
	sample.Target
	Severity, State string
	// OpenedAt is when it began. FiredAt and ResolvedAt are zero while it has
	// not fired, or is not resolved.
	OpenedAt, FiredAt, ResolvedAt time.Time
	// LastSeen is the event time of its newest finding.
	LastSeen time.Time
	// Revision rises with every change that is notified.
	Revision int64
	// Root is the fingerprint of the finding that stands for the others, and
	// Findings are the fingerprints of all, in order. Written with nil, the stored
	// ones stay.
	Root     string
	Findings []string
	Document []byte
}

// IncidentQuery chooses incidents. The zero value chooses all; an empty field
// chooses any.
type IncidentQuery struct {
	State, Severity, Account, Region, Table, Case, Subject string
	// Finding is the fingerprint of one of the incident's findings.
	Finding string
	// After chooses the incidents behind this one in the order of the list; the zero
	// value, from the first on.
	After IncidentPlace
	Limit int
}

// IncidentPlace is an incident's place in the order of a list. It holds the values that
// the order compares, not a number, so that a list continues correctly while rows come
// and go.
type IncidentPlace struct {
	LastSeen time.Time
	ID       string
}

const incidentColumns = `id, case_code, subject, severity, state, opened_at, fired_at, resolved_at, last_seen, revision, root, document`

// incidentSelect begins every query of incidents. The fingerprints of an incident's
// findings are one text, in order, so that a list is one query.
const incidentSelect = `
	SELECT ` + targetColumns + `, i.` + incidentColumns + `, (
		SELECT string_agg(f.fingerprint, '` + separator + `' ORDER BY f.fingerprint)
		FROM incident_findings AS f WHERE f.incident = i.id)
	FROM incidents AS i JOIN targets AS t ON t.id = i.target`

// separator stands between fingerprints: no name holds a line break.
const separator = "\n"

// Incidents returns the incidents that a query chooses, the newest first.
func (s *Store) Incidents(ctx context.Context, q IncidentQuery) ([]Incident, error) {
	return list(ctx, s, "read incidents", (*Incident).fields, incidentSelect+`
		WHERE ($1 = '' OR state = $1) AND ($2 = '' OR severity = $2)
			AND ($3 = '' OR t.table_name = $3) AND ($4 = '' OR case_code = $4) AND ($11 = '' OR subject = $11)
			AND ($5 = '' OR EXISTS (
				SELECT 1 FROM incident_findings AS f WHERE f.incident = i.id AND f.fingerprint = $5))
			AND ($6 = '' OR t.account = $6) AND ($7 = '' OR t.region = $7)
			AND ($8 = '' OR last_seen < $9 OR last_seen = $9 AND i.id > $8)
		ORDER BY last_seen DESC, i.id LIMIT $10`,
		q.State, q.Severity, clean(q.Table), q.Case, q.Finding, clean(q.Account), clean(q.Region),
		q.After.ID, utc(q.After.LastSeen), limit(q.Limit), q.Subject)
}

// Incident returns one incident, or ErrNotFound.
func (s *Store) Incident(ctx context.Context, id string) (Incident, error) {
	found, err := first(selectAll(ctx, s.read, (*Incident).fields, incidentSelect+` WHERE i.id = $1`, id))
	return found, wrap(ctx, "read incident "+id, err)
}

// IncidentsByID returns the stored incidents among some IDs, in the order of their IDs,
// with one query.
func (s *Store) IncidentsByID(ctx context.Context, ids []string) ([]Incident, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return list(ctx, s, "read incidents by their IDs", (*Incident).fields,
		incidentSelect+` WHERE i.id IN (VALUES `+placeholders(len(ids), 1)+`) ORDER BY i.id`, texts(ids)...)
}

// IncidentFinding is one of an incident's findings.
type IncidentFinding struct {
	Incident string
	// Of is how many findings of the incident are stored.
	Of int
	Finding
}

// IncidentFindings returns findings of each of a page of incidents, at most so many of
// each: its root, then the most utilised. It takes one query.
func (s *Store) IncidentFindings(ctx context.Context, ids []string, most int) ([]IncidentFinding, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	// Documents are large: only the chosen ones are read.
	return list(ctx, s, "read the findings of incidents", func(f *IncidentFinding) []any {
		return append([]any{&f.Incident, &f.Of}, f.Finding.fields()...)
	}, `
		SELECT m.incident, m.stored, `+targetColumns+`, f.`+findingColumns+`
		FROM (
			SELECT m.incident, m.fingerprint, count(*) OVER (PARTITION BY m.incident) AS stored, row_number() OVER (
				PARTITION BY m.incident
				ORDER BY CASE m.fingerprint WHEN i.root THEN 0 ELSE 1 END, o.utilization DESC, m.fingerprint) AS place
			FROM incident_findings AS m JOIN incidents AS i ON i.id = m.incident JOIN findings AS o ON o.fingerprint = m.fingerprint
			WHERE m.incident IN (VALUES `+placeholders(len(ids), 1)+`)) AS m
		JOIN findings AS f ON f.fingerprint = m.fingerprint JOIN targets AS t ON t.id = f.target
		WHERE m.place <= $`+strconv.Itoa(len(ids)+1)+`
		ORDER BY m.incident, m.place`, append(texts(ids), most)...)
}

func texts(all []string) []any {
	args := make([]any, len(all))
	for i, text := range all {
		args[i] = text
	}
	return args
}

func (i *Incident) fields() []any {
	return append(targetFields(&i.Target), &i.ID, &i.Case, &i.Subject, &i.Severity, &i.State, &i.OpenedAt, (*orZero)(&i.FiredAt),
		(*orZero)(&i.ResolvedAt), &i.LastSeen, &i.Revision, &i.Root, &i.Document, (*separated)(&i.Findings))
}

// separated reads names that [separator] stands between; NULL is none.
type separated []string

// Scan implements sql.Scanner.
func (n *separated) Scan(v any) error {
	var text sql.NullString
	if err := text.Scan(v); err != nil || !text.Valid {
		return err
	}
	*n = strings.Split(text.String, separator)
	return nil
}

func (t *tx) putIncidents(ctx context.Context, all []Incident, ids targetIDs) error {
	err := insertAll(ctx, t, `INSERT INTO incidents (target, `+incidentColumns+`, updated)`, `
		ON CONFLICT (id) DO UPDATE
		SET case_code = excluded.case_code, subject = excluded.subject, target = excluded.target, severity = excluded.severity, state = excluded.state,
			opened_at = excluded.opened_at, fired_at = excluded.fired_at, resolved_at = excluded.resolved_at,
			last_seen = excluded.last_seen, revision = excluded.revision, root = excluded.root,
			document = excluded.document, updated = excluded.updated`, all, func(n Incident) []any {
		return []any{ids.id(n.Target), n.ID, n.Case, n.Subject, n.Severity, n.State, utc(n.OpenedAt), orNull(n.FiredAt), orNull(n.ResolvedAt),
			utc(n.LastSeen), n.Revision, n.Root, clean(string(n.Document)), t.now}
	})
	if err != nil {
		return err
	}
	return t.putIncidentFindings(ctx, all)
}

func (t *tx) putIncidentFindings(ctx context.Context, all []Incident) error {
	var deletions []statement
	var rows [][]any
	for _, n := range all {
		if n.Findings == nil {
			continue
		}
		deletions = append(deletions, statement{`DELETE FROM incident_findings WHERE incident = $1`, []any{n.ID}})
		for _, fingerprint := range n.Findings {
			rows = append(rows, []any{n.ID, fingerprint})
		}
	}
	if len(deletions) == 0 {
		return nil
	}
	if err := t.runAll(ctx, deletions); err != nil {
		return err
	}
	return t.insert(ctx, `INSERT INTO incident_findings (incident, fingerprint)`, `ON CONFLICT DO NOTHING`, rows)
}
