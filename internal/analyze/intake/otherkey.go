package intake

import (
	"fmt"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// throttledFrom is the share of the seen requests from which throttling needs an
// explanation, and attemptsFrom the number from which it is reported.
const (
	throttledFrom = 0.01
	attemptsFrom  = 100
)

// OtherKeys names the tables and indexes with much throttling and no finding: the key in
// the samples may be another than DynamoDB's.
func OtherKeys(tables []detect.Table, findings []detect.Finding) (all []string) {
	for i := range tables {
		t := &tables[i]
		seen := t.Requests + t.Throttled.Requests
		found := slices.ContainsFunc(findings, func(f detect.Finding) bool { return f.Target == t.Target })
		if found || t.Throttled.Requests < attemptsFrom || float64(t.Throttled.Requests) < throttledFrom*float64(seen) {
			continue
		}
		schema := "Table.KeySchema"
		if t.Index != "" {
			schema = "Table.GlobalSecondaryIndexes"
		}
		all = append(all, fmt.Sprintf("%s: %s of the requests seen were throttled, and no key is near a limit. Either it has too little capacity, or its partition key is another than the one that is given here; DynamoDB's own is HASH in aws dynamodb describe-table --table-name %s --query %s",
			wording.Printable(t.Name()), wording.Percent(float64(t.Throttled.Requests)/float64(seen)), wording.Printable(t.Table), schema))
	}
	return all
}
