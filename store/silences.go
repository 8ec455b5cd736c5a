package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The states of a silence.
const (
	SilencePending = "pending"
	SilenceActive  = "active"
	SilenceExpired = "expired"
)

// Silence holds back the notifications of incidents from one time to another.
type Silence struct {
	ID string `json:"id"`
	// State is the silence's when it was read.
	State string `json:"state"`
	// Matchers choose the incidents, in package silence's words.
	Matchers []string `json:"matchers"`
	// StartsAt is when it begins, EndsAt when it is over.
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	// Author made it, and Reason explains it.
	Author string `json:"author"`
	Reason string `json:"reason"`
}

// maxSilences bounds the silences that are not over, which each judgement compares with
// each incident.
const maxSilences = 1000

// ErrTooManySilences is the error for one more than [maxSilences].
var ErrTooManySilences = errors.New("there are 1,000 silences that are not over: expire some first")

// The audit's names of the changes of silences.
const (
	actionSilence = "add a silence"
	actionExpire  = "expire a silence"
)

// AddSilence stores a silence under an ID of its own, with an entry of the audit, and
// returns it as it is stored, with its ID and state.
func (s *Store) AddSilence(ctx context.Context, n Silence) (added Silence, err error) {
	id := rand.Text()
	err = s.change(ctx, "add a silence", func(t *tx) error {
		var open int
		err := t.QueryRowContext(ctx, `SELECT count(*) FROM silences WHERE ends_at > $1`, t.now).Scan(&open)
		if err != nil {
			return err
		}
		if open >= maxSilences {
			return ErrTooManySilences
		}
		err = t.run(ctx, `INSERT INTO silences (`+silenceColumns+`) VALUES ($1, $2, $3, $4, $5, $6)`,
			id, asJSON{n.Matchers}, utc(n.StartsAt), utc(n.EndsAt), clean(n.Author), clean(n.Reason))
		if err != nil {
			return err
		}
		detail := fmt.Sprintf("%s, from %s to %s", strings.Join(n.Matchers, ", "), n.StartsAt.UTC().Format(time.RFC3339), n.EndsAt.UTC().Format(time.RFC3339))
		if err := t.audit(ctx, n.Author, actionSilence, id, detail); err != nil {
			return err
		}
		stored, err := t.silences(ctx, SilenceQuery{}, id)
		if err == nil && len(stored) == 1 {
			added = stored[0]
		}
		return err
	})
	return added, err
}

// ExpireSilence ends a silence now, with an entry of the audit. It fails with
// ErrNotFound when there is none of this ID that is not over.
func (s *Store) ExpireSilence(ctx context.Context, id, who string) error {
	id = clean(id)
	return s.change(ctx, "expire a silence", func(t *tx) error {
		err := t.execFound(ctx, `
			UPDATE silences SET ends_at = $1, starts_at = CASE WHEN starts_at > $1 THEN $1 ELSE starts_at END
			WHERE id = $2 AND ends_at > $1`, t.now, id)
		if err != nil {
			return err
		}
		return t.audit(ctx, who, actionExpire, id, "")
	})
}

const silenceColumns = `id, matchers, starts_at, ends_at, author, reason`

const silenceState = `CASE WHEN ends_at <= $1 THEN '` + SilenceExpired + `' WHEN starts_at > $1 THEN '` + SilencePending + `' ELSE '` + SilenceActive + `' END`

// SilenceQuery chooses silences. The zero value chooses all.
type SilenceQuery struct {
	// State is a silence's state; any when empty.
	State string
	// From and To choose silences in force at some time in between, To exclusive: they
	// began before To, and ended after From. The zero value bounds nothing.
	From, To time.Time
	// Limit is the most to return, 0 for [maxSilences].
	Limit int
}

// Silences returns a query's silences, the last to end first.
func (s *Store) Silences(ctx context.Context, q SilenceQuery) (all []Silence, err error) {
	err = s.snapshot(ctx, "read silences", func(t *tx) error {
		all, err = t.silences(ctx, q, "")
		return err
	})
	return all, err
}

func (t *tx) silences(ctx context.Context, q SilenceQuery, id string) ([]Silence, error) {
	from, to := q.From, q.To
	if from.IsZero() {
		from = Beginning
	}
	if to.IsZero() {
		to = Infinity
	}
	bounded := !q.From.IsZero() || !q.To.IsZero()
	return selectAll(ctx, t, func(n *Silence) []any {
		return []any{&n.ID, readableMatchers{&n.Matchers}, &n.StartsAt, &n.EndsAt, &n.Author, &n.Reason, &n.State}
	}, `
		SELECT `+silenceColumns+`, state FROM (SELECT `+silenceColumns+`, `+silenceState+` AS state FROM silences) AS s
		WHERE ($2 = '' OR state = $2) AND ($3 = '' OR id = $3) AND (NOT $4 OR starts_at < ends_at AND ends_at > $5 AND starts_at < $6)
		ORDER BY ends_at DESC, id LIMIT $7`, t.now, q.State, id, bounded, utc(from), utc(to), cmp.Or(max(q.Limit, 0), maxSilences))
}

// readableMatchers reads matchers, or none where they are unreadable: package silence
// reports a silence without matchers, and the others are read.
type readableMatchers struct{ matchers *[]string }

// Scan implements sql.Scanner.
func (m readableMatchers) Scan(v any) error {
	if err := (asJSON{m.matchers}).Scan(v); err != nil || *m.matchers == nil {
		*m.matchers = []string{}
	}
	return nil
}
