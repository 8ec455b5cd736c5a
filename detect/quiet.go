package detect

import "time"

// QuietHours is the time of each day, in UTC, in which a table may have no samples.
type QuietHours struct {
	// From is the beginning as the time since midnight, and Lasts the length: a day for
	// always.
	From, Lasts time.Duration
}

// NewestEnd returns the end of the newest quiet time that began by then; zero for a table that
// is never quiet. It lies in the future while the table may be quiet.
func (q *QuietHours) NewestEnd(now time.Time) time.Time {
	if q == nil {
		return time.Time{}
	}
	began := now.UTC().Truncate(24 * time.Hour).Add(q.From)
	if began.After(now) {
		began = began.Add(-24 * time.Hour)
	}
	return began.Add(q.Lasts)
}
