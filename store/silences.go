package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/silence"
)

// maxSilences bounds the silences that are not over, which each judgement compares
// with each incident.
const maxSilences = 1000

// ErrTooManySilences is the error for one more than [maxSilences].
var ErrTooManySilences = errors.New("there are 1,000 silences that are not over: expire some first")

// What the audit calls the changes of silences.
const (
	actionSilence = "add a silence"
	actionExpire  = "expire a silence"
)

// AddSilence stores a silence, under an ID that it returns, with an entry of the audit.
func (s *Store) AddSilence(ctx context.Context, n silence.Silence) (id string, err error) {
	id = rand.Text()
	err = s.change(ctx, "add a silence", func(t *tx) error {
		var open int
		if err := t.QueryRowContext(ctx, `SELECT count(*) FROM silences WHERE ends_at > $1`, t.now).Scan(&open); err != nil {
			return err
		}
		if open >= maxSilences {
			return ErrTooManySilences
		}
		err := t.run(ctx, `INSERT INTO silences (`+silenceColumns+`) VALUES ($1, $2, $3, $4, $5, $6)`,
			id, asJSON{n.Matchers}, utc(n.StartsAt), utc(n.EndsAt), clean(n.Author), clean(n.Reason))
		if err != nil {
			return err
		}
		detail := fmt.Sprintf("%s, from %s to %s", strings.Join(n.Matchers, ", "), n.StartsAt.UTC().Format(time.RFC3339), n.EndsAt.UTC().Format(time.RFC3339))
		return t.audit(ctx, n.Author, actionSilence, id, detail)
	})
	return id, err
}

// ExpireSilence ends a silence now, with an entry of the audit. It fails with
// ErrNotFound when there is none of this ID that is not over.
func (s *Store) ExpireSilence(ctx context.Context, id, who string) error {
	id = clean(id)
	return s.change(ctx, "expire a silence", func(t *tx) error {
		err := t.execFound(ctx, `
			UPDATE silences SET ends_at = $2, starts_at = CASE WHEN starts_at > $2 THEN $2 ELSE starts_at END
			WHERE id = $1 AND ends_at > $2`, id, t.now)
		if err != nil {
			return err
		}
		return t.audit(ctx, who, actionExpire, id, "")
	})
}

const silenceColumns = `id, matchers, starts_at, ends_at, author, reason`

// SilenceQuery chooses silences. The zero value chooses all.
type SilenceQuery struct {
	// State is one of package silence; any when empty.
	State string
	// Limit is the most to return, 0 for [maxSilences].
	Limit int
}

// Silences returns the silences that a query chooses, those that end last first.
func (s *Store) Silences(ctx context.Context, q SilenceQuery) (all []silence.Silence, err error) {
	err = s.snapshot(ctx, "read silences", func(t *tx) error {
		all, err = selectAll(ctx, t, func(n *silence.Silence) []any {
			return []any{&n.ID, asJSON{&n.Matchers}, &n.StartsAt, &n.EndsAt, &n.Author, &n.Reason, &n.State}
		}, `
			SELECT `+silenceColumns+`, state FROM (
				SELECT `+silenceColumns+`,
					CASE WHEN ends_at <= $1 THEN 'expired' WHEN starts_at > $1 THEN 'pending' ELSE 'active' END AS state
				FROM silences) AS s
			WHERE $2 = '' OR state = $2
			ORDER BY ends_at DESC, id LIMIT $3`, t.now, q.State, cmp.Or(max(q.Limit, 0), maxSilences))
		return err
	})
	return all, err
}
