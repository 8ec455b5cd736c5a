package publish

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// The metrics. All are of one minute.
const (
	// SecondsCounted is how many seconds of the minute were counted whole, of all tables.
	// It is the only one without dimensions, and the one to alarm on when it is missing.
	SecondsCounted = "SecondsCounted"
	// HotKeys is the number of keys with a second proven above a partition's limit.
	HotKeys = "HotKeys"
	// HighestUtilization is the highest second of a key, in percent of a partition's
	// limit.
	HighestUtilization = "HighestUtilization"
	// FiringIncidents is how many incidents of the table fire.
	FiringIncidents = "FiringIncidents"
	// WriteCoverage and ReadCoverage are the parts of the real load that the samples
	// show, in percent, where DynamoDB's own metrics are read.
	WriteCoverage = "WriteCoverage"
	ReadCoverage  = "ReadCoverage"
)

// ofTable are the metrics of a table or index.
var ofTable = []string{HotKeys, HighestUtilization, FiringIncidents, WriteCoverage, ReadCoverage}

// The dimensions of DynamoDB's own metrics, and the account if samples carry it.
const (
	TableDimension   = "TableName"
	IndexDimension   = "GlobalSecondaryIndexName"
	AccountDimension = "AccountId"
)

func dimensions(of sample.Target) (all []types.Dimension) {
	for _, d := range []struct{ name, value string }{{TableDimension, of.Table}, {IndexDimension, of.Index}, {AccountDimension, of.Account}} {
		if d.value != "" {
			all = append(all, types.Dimension{Name: aws.String(d.name), Value: aws.String(d.value)})
		}
	}
	return all
}

// minute holds the known figures of one minute of a table or index.
type minute struct {
	hot         int
	utilization float64
	// listed reports that keys were counted in it: without load there are none.
	listed  bool
	firing  int64
	covered *detect.TableCloudWatch
}

func (m *minute) add(stored store.Rollup) error {
	var r rollup.Rollup
	if err := r.UnmarshalBinary(stored.Body); err != nil {
		return fmt.Errorf("stored roll-up of %s at %s: %w", stored.Name(), stored.Begins, err)
	}
	for i := range r.Keys {
		k := &r.Keys[i]
		m.listed = true
		m.utilization = max(m.utilization, k.Utilization())
		if k.Write.Max.Low > detect.PartitionWrite || k.Read.Max.Low > detect.PartitionRead {
			m.hot++
		}
	}
	return nil
}

// data returns the known figures of the minute as CloudWatch's data. Counts are known if
// the minute was counted.
func (m *minute) data(of sample.Target, at time.Time, counted bool) (all []types.MetricDatum) {
	add := func(name string, unit types.StandardUnit, value float64) {
		all = append(all, types.MetricDatum{MetricName: aws.String(name), Dimensions: dimensions(of), Timestamp: aws.Time(at), Unit: unit, Value: aws.Float64(value)})
	}
	if counted {
		add(HotKeys, types.StandardUnitCount, float64(m.hot))
		add(FiringIncidents, types.StandardUnitCount, float64(m.firing))
	}
	if m.listed {
		add(HighestUtilization, types.StandardUnitPercent, 100*m.utilization)
	}
	if m.covered != nil && m.covered.Write != nil {
		add(WriteCoverage, types.StandardUnitPercent, 100*m.covered.Write.Value)
	}
	if m.covered != nil && m.covered.Read != nil {
		add(ReadCoverage, types.StandardUnitPercent, 100*m.covered.Read.Value)
	}
	return all
}

func secondsCounted(seen store.SeenMinute, at time.Time) types.MetricDatum {
	return types.MetricDatum{
		MetricName: aws.String(SecondsCounted), Timestamp: aws.Time(at), Unit: types.StandardUnitCount,
		Value: aws.Float64(float64(bits.OnesCount64(seen.Seconds))),
	}
}
