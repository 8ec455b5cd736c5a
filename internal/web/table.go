package web

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// tableTotals is what is stored of a table or index, in the API's form.
type tableTotals struct {
	sample.Target
	Requests int64   `json:"requests"`
	WCU      float64 `json:"wcu"`
	RCU      float64 `json:"rcu"`
	// Throttled is what was throttled, beside what Requests and units count.
	Throttled throttled `json:"throttled"`
	Seconds   int64     `json:"seconds"`
	// DistinctKeys is about how many keys were seen in the last hour that is
	// stored; 0 when unknown.
	DistinctKeys int64 `json:"distinct_keys"`
	// View is what the keys of the last hour look like; null before there is
	// one.
	View *detect.View `json:"view"`
}

type throttled struct {
	Requests int64   `json:"requests"`
	WCU      float64 `json:"wcu"`
	RCU      float64 `json:"rcu"`
}

// maxCounted is how many tables have their distinct keys counted for one page:
// each is a query of its own.
const maxCounted = 200

func (s *Site) tables(ctx context.Context) ([]tableTotals, error) {
	rows, err := s.store.Totals(ctx)
	if err != nil {
		return nil, err
	}
	views, err := s.views(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]tableTotals, len(rows))
	for i, r := range rows {
		all[i] = tableTotals{
			Target: r.Target, Requests: r.Requests, Seconds: r.Seconds,
			WCU: float64(r.WriteMilli) / 1000, RCU: float64(r.ReadMilli) / 1000,
			Throttled: throttled{r.ThrottledRequests, float64(r.ThrottledWriteMilli) / 1000, float64(r.ThrottledReadMilli) / 1000},
		}
		all[i].View = views[r.Target].View
		if i >= maxCounted {
			continue
		}
		if all[i].DistinctKeys, err = s.distinct(ctx, r.Target); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// distinct estimates the keys of the last hour.
func (s *Site) distinct(ctx context.Context, at sample.Target) (int64, error) {
	rows, err := s.store.Cardinalities(ctx, store.CardinalityQuery{
		Target: at, From: time.Now().Add(-time.Hour),
	})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var hour sketch.Cardinality
	for _, row := range rows {
		minute, err := sketch.CardinalityFromBytes(row.Registers)
		if err != nil {
			return 0, err
		}
		hour.Join(minute)
	}
	return int64(hour.Estimate()), nil
}
