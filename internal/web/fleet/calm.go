package fleet

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/store"
)

// Calm is the proof that all tables are watched and none is near a limit.
type Calm struct {
	Tables, Indexes int
	// PerSecond is how many requests a second were seen in the last minutes.
	PerSecond float64
	// Through is the end of the counted time; zero if nothing was counted lately.
	Through time.Time
	// Nearest is the row with the key that is nearest to a limit now; nil without load.
	Nearest *Row
}

// LoadCalm returns the proof, in as many queries for any number of tables.
func LoadCalm(ctx context.Context, st *store.Store, now time.Time) (*Calm, error) {
	rows, end, err := loadRows(ctx, st, now)
	if err != nil {
		return nil, err
	}
	c := new(Calm)
	for i := range rows {
		r := &rows[i]
		if r.Index == "" {
			c.Tables++
		} else {
			c.Indexes++
		}
		if r.Throttled != nil {
			c.PerSecond += float64(r.Throttled.Attempts) / throttling.Seconds()
		}
		if r.Now == nil {
			continue
		}
		c.Through = end
		if !r.Now.Quiet && (c.Nearest == nil || r.Now.Utilization > c.Nearest.Now.Utilization) {
			c.Nearest = r
		}
	}
	return c, nil
}
