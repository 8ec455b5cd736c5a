package cloudwatchtest

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
)

// selection is a query of Metrics Insights, as far as this server reads its SQL.
var selection = regexp.MustCompile(`^SELECT SUM\((\w+)\) FROM SCHEMA\("AWS/DynamoDB", ([\w, ]+)\) GROUP BY ([\w, ]+) ORDER BY SUM\(\) DESC LIMIT (\d+)$`)

// insightsReach is how far back Metrics Insights answers; older data are left out.
const insightsReach = 14 * 24 * time.Hour

// selected answers a query of Metrics Insights: a series for each group, with the sums of each
// period, the largest first. A call may have one such query. The caller holds mu.
func (s *Server) selected(queries cbor.List, from, to time.Time) (cbor.Map, *Failure) {
	of, _ := queries[0].(cbor.Map)
	expression, _ := of["Expression"].(cbor.String)
	period, err := cbor.AsInt64(of["Period"])
	match := selection.FindStringSubmatch(string(expression))
	if len(queries) != 1 || match == nil || err != nil || period%60 != 0 || match[2] != match[3] {
		return nil, &Failure{http.StatusBadRequest, "ValidationError", "The query is none of Metrics Insights, or one of several: " + string(expression)}
	}
	limit, _ := strconv.Atoi(match[4]) // digits
	if limit > maxQueries {
		return nil, &Failure{http.StatusBadRequest, "ValidationError", "LIMIT is at most 500"}
	}
	byIndex := match[2] == "TableName, GlobalSecondaryIndexName"
	type group struct {
		label string
		total float64
		sums  map[int64]float64
	}
	groups := map[string]*group{}
	for m, minutes := range s.points {
		if m.Name != match[1] || (m.Index != "") != byIndex {
			continue
		}
		label := strings.TrimSpace(m.Table + " " + m.Index)
		if groups[label] == nil {
			groups[label] = &group{label: label, sums: map[int64]float64{}}
		}
		for minute, values := range minutes {
			if minute < from.Unix() || minute >= to.Unix() || minute < time.Now().Add(-insightsReach).Unix() {
				continue
			}
			for _, v := range values {
				groups[label].sums[minute/period*period] += v
				groups[label].total += v
			}
		}
	}
	all := make([]*group, 0, len(groups))
	for _, g := range groups {
		if len(g.sums) > 0 {
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b *group) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.label, b.label)) })
	var results cbor.List
	for _, g := range all[:min(len(all), limit)] {
		timestamps, values := cbor.List{}, cbor.List{}
		for at, sum := range g.sums {
			timestamps, values = append(timestamps, &cbor.Tag{ID: 1, Value: cbor.Float64(at)}), append(values, cbor.Float64(sum))
		}
		results = append(results, cbor.Map{"Id": of["Id"], "Label": cbor.String(g.label), "StatusCode": cbor.String("Complete"), "Timestamps": timestamps, "Values": values})
	}
	return cbor.Map{"MetricDataResults": results, "Messages": cbor.List{}}, nil
}
