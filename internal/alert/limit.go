package alert

import (
	"context"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/store"
)

// telling is one notice of the last minute: when it was sent, and its flow.
type telling struct {
	at   time.Time
	flow string
}

// isFull reports whether the limit of a minute is reached for a flow of notifications. The
// first one of a flow may exceed it, up to twice the limit: one table's flood must not hide
// another table's incident.
func (r *Route) isFull(flow string, now time.Time) bool {
	r.told = slices.DeleteFunc(r.told, func(t telling) bool { return now.Sub(t.at) >= time.Minute })
	known := slices.ContainsFunc(r.told, func(t telling) bool { return t.flow == flow })
	return r.config.Limit > 0 && len(r.told) >= r.config.Limit && (known || len(r.told) >= 2*r.config.Limit)
}

// summarise sends, once a minute, one message about due incidents that fire. Incidents that are
// over by then are left out, because their beginning was never sent.
func (r *Route) summarise(ctx context.Context, due []store.Notification) error {
	now := time.Now()
	if now.Sub(r.summarised) < time.Minute {
		return nil
	}
	ids := make([]string, len(due))
	for i := range due {
		ids[i] = due[i].ID
		if err := r.refresh(ctx, &due[i]); err != nil {
			return err
		}
	}
	summary, err := r.summary(ctx, due)
	if err != nil {
		return err
	}
	response, err := r.attempt(ctx, summary)
	if err != nil {
		return err
	}
	if response.Err != nil {
		return nil // it is tried again when the receiver is
	}
	r.summarised = now
	r.measures.attempts.WithLabelValues(string(summarised)).Inc()
	return r.store.MarkSummarised(ctx, ids)
}

// summary is one notice about several notifications, the worst one's with another
// title.
func (r *Route) summary(ctx context.Context, due []store.Notification) (*receiver.Notice, error) {
	tables := make(map[string]int)
	var worst *receiver.Notice
	for _, n := range due {
		notice, err := r.notice(ctx, n)
		if err != nil {
			return nil, err
		}
		notice.Delay = r.delay(n.Created, r.now())
		tables[notice.Table()]++
		if worst == nil || detect.Rank(notice.Severity()) > detect.Rank(worst.Severity()) {
			worst = notice
		}
	}
	worst.ID, worst.Receipt = detect.SummaryID(worst.ID), ""
	worst.Subject = worst.ID
	worst.Title = say.LimitedTitle(tables, r.config.Limit, worst.Title)
	if r.config.Pages != "" {
		worst.URL = r.config.Pages
	}
	return worst, nil
}

// repeat sends all open incidents again, to a receiver that forgets them otherwise.
func (r *Route) repeat(ctx context.Context, now time.Time) error {
	forgetful, is := r.notifier.(receiver.Repeater)
	if !is || now.Sub(r.repeated) < forgetful.Interval() || r.receiver.NextAttempt.After(r.now()) {
		return nil
	}
	ongoing, err := r.store.Ongoing(ctx, r.config.Route)
	if err != nil {
		return err
	}
	for _, n := range ongoing {
		mine, err := r.lease(ctx)
		if err != nil || !mine {
			return err
		}
		notice, err := r.notice(ctx, n)
		if err != nil {
			return err
		}
		response, err := r.attempt(ctx, notice)
		if err != nil {
			return err
		}
		if response.Err != nil {
			return nil
		}
	}
	r.repeated = now
	return nil
}
