package store

import (
	"context"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Finding is one stored verdict: columns for searching and ordering, and the whole in the
// document.
type Finding struct {
	// Fingerprint names the finding: one for each subject.
	Fingerprint string
	// Case is the answer. Subject, Target and Key are what it is about. Key is for people and
	// for searching; characters that SQL text cannot hold are replaced in it, and the document
	// has it exactly.
	Case, Subject string
	sample.Target
	Key             sample.Text
	Severity, State string
	// Utilization is the peak as a share of the limit; 1 is the limit.
	Utilization float64
	// FirstSeen and LastSeen are event times.
	FirstSeen, LastSeen time.Time
	// UpdatedAt is when it was last written; set by the store.
	UpdatedAt time.Time
	Document  []byte
}

// Transition is one change of a finding, or of an incident.
type Transition struct {
	// Of is the finding's fingerprint, or the incident's ID.
	Of string
	// At is when it happened, by the judge's clock.
	At time.Time
	// From and To are states; From is empty at the first.
	From, To string
	Severity string
	// Note is why, one of detect's codes; empty where the states say it. About is the ID
	// or severity that the code refers to, and Until the end of a silence.
	Note, About string
	Until       time.Time
}

// FindingQuery chooses findings. The zero value chooses all; an empty field
// chooses any.
type FindingQuery struct {
	State, Severity, Account, Region, Table, Case, Subject string
	// After chooses the findings behind this one in the order of the list; the zero
	// value, from the first on.
	After FindingPlace
	Limit int
}

// FindingPlace is a finding's place in the order of a list; see [IncidentPlace].
type FindingPlace struct {
	Utilization float64
	Fingerprint string
}

const findingColumns = `fingerprint, case_code, subject, key_text, severity, state,
	utilization, first_seen, last_seen, updated_at, document`

func (f *Finding) fields() []any {
	return append(targetFields(&f.Target), &f.Fingerprint, &f.Case, &f.Subject, &f.Key, &f.Severity, &f.State,
		&f.Utilization, &f.FirstSeen, &f.LastSeen, &f.UpdatedAt, &f.Document)
}

// Findings returns the findings that a query chooses, the most utilised first.
func (s *Store) Findings(ctx context.Context, q FindingQuery) ([]Finding, error) {
	return list(ctx, s, "read findings", (*Finding).fields, `
		SELECT `+targetColumns+`, `+findingColumns+` FROM findings AS f JOIN targets AS t ON t.id = f.target
		WHERE ($1 = '' OR state = $1) AND ($2 = '' OR severity = $2)
			AND ($3 = '' OR t.table_name = $3) AND ($4 = '' OR case_code = $4) AND ($10 = '' OR subject = $10)
			AND ($5 = '' OR t.account = $5) AND ($6 = '' OR t.region = $6)
			AND ($7 = '' OR utilization < $8 OR utilization = $8 AND fingerprint > $7)
		ORDER BY utilization DESC, fingerprint LIMIT $9`,
		q.State, q.Severity, clean(q.Table), q.Case, clean(q.Account), clean(q.Region),
		q.After.Fingerprint, q.After.Utilization, limit(q.Limit), q.Subject)
}

// Finding returns one finding, or ErrNotFound.
func (s *Store) Finding(ctx context.Context, fingerprint string) (Finding, error) {
	found, err := first(selectAll(ctx, s.read, (*Finding).fields, findingByFingerprint, fingerprint))
	return found, wrap(ctx, "read finding "+fingerprint, err)
}

// FindingsByFingerprint returns the stored findings among some fingerprints.
func (s *Store) FindingsByFingerprint(ctx context.Context, fingerprints []string) ([]Finding, error) {
	each := make([][]any, len(fingerprints))
	for i, fingerprint := range fingerprints {
		each[i] = []any{fingerprint}
	}
	all, err := listEach(ctx, s, "read findings by their fingerprints", (*Finding).fields, findingByFingerprint, each)
	return slices.Concat(all...), err
}

const findingByFingerprint = `
	SELECT ` + targetColumns + `, ` + findingColumns + ` FROM findings AS f JOIN targets AS t ON t.id = f.target WHERE fingerprint = $1`

// FindingHistory returns a finding's transitions in the order they were
// written.
func (s *Store) FindingHistory(ctx context.Context, fingerprint string) ([]Transition, error) {
	return list(ctx, s, "read a history", (*Transition).fields, `
		SELECT fingerprint, at, from_state, to_state, severity, note, about, until
		FROM finding_history WHERE fingerprint = $1 ORDER BY id`, fingerprint)
}

func (t *tx) putFindings(ctx context.Context, findings []Finding, ids targetIDs) error {
	return insertAll(ctx, t, `INSERT INTO findings (target, `+findingColumns+`)`, `
		ON CONFLICT (fingerprint) DO UPDATE
		SET case_code = excluded.case_code, subject = excluded.subject, target = excluded.target, key_text = excluded.key_text,
			severity = excluded.severity, state = excluded.state,
			utilization = excluded.utilization, first_seen = excluded.first_seen,
			last_seen = excluded.last_seen, updated_at = excluded.updated_at,
			document = excluded.document`, findings, func(f Finding) []any {
		return []any{ids.id(f.Target), f.Fingerprint, f.Case, f.Subject, clean(string(f.Key)), f.Severity, f.State, f.Utilization,
			utc(f.FirstSeen), utc(f.LastSeen), t.now, clean(string(f.Document))}
	})
}

func (c *Transition) fields() []any {
	return []any{&c.Of, &c.At, &c.From, &c.To, &c.Severity, &c.Note, &c.About, (*orZero)(&c.Until)}
}

func putTransitions(verb string) func(*tx, context.Context, []Transition, targetIDs) error {
	return func(t *tx, ctx context.Context, all []Transition, _ targetIDs) error {
		return insertAll(ctx, t, verb, "", all, func(c Transition) []any {
			return []any{c.Of, utc(c.At), c.From, c.To, c.Severity, c.Note, c.About, orNull(c.Until), t.now}
		})
	}
}
