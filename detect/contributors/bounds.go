// Package contributors makes findings of CloudWatch Contributor Insights: of its counts of a
// key in each minute, beside CloudWatch's metrics of the table or index in that minute.
//
// Contributor Insights reports one value of a key and minute, 3W + R of its write and
// read units. The table's own consumption bounds W and R: the key has no more reads than
// the table, and no more writes. A load that the bounds leave open is a doubt, and no
// finding. A minute's mean is a lower bound of its highest second, so no key is proven
// healthy.
//
// AWS calls the values approximate, and they count consumed load. A key above a limit
// without throttling has its items on several partitions, or a little less load.
package contributors

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
)

// FullMinute is the value of a minute in which a key's writes alone, or its reads alone, fill
// a partition.
const FullMinute = float64(detect.PartitionRead) / 1000 * seconds

const (
	seconds = 60
	// whole is the part of a table's consumption that all keys together may reach. It is
	// above 1 since the two counts may put a request at a minute's edge into different
	// minutes.
	whole = 1.02
	// over is the share of a limit that a load must exceed. The excess over 1 allows for
	// rounding of fractions of units.
	over = 1 + 1e-9
)

// consumed returns the write and read units of a table or index in a minute. DynamoDB
// publishes no data point for zero consumption: if only one metric has a point, the other
// one is zero. If neither has, nothing is known.
func consumed(m corroboration.Minute) (write, read float64, known bool) {
	write, writes := m.Metrics[corroboration.ConsumedWrite]
	read, reads := m.Metrics[corroboration.ConsumedRead]
	return write, read, writes || reads
}

// means returns the mean seconds of writes and reads that can make up a key's value V of one
// minute:
//
//	W ≥ (V − R of the table) / 3, W ≤ V/3, W ≤ W of the table
//	R ≥ V − 3 × W of the table,   R ≤ V,   R ≤ R of the table
//
// The value may be all writes, or all reads, if the table's consumption is unknown, or is
// less than the listed keys have together: then the two count differently.
func means(m corroboration.Minute, listed, value float64) detect.Loads {
	write, read, known := consumed(m)
	if !known || listed > whole*(detect.WritesInReads*write+read) {
		write, read = value/detect.WritesInReads, value
	}
	return detect.Loads{
		WCU: mean((value-read)/detect.WritesInReads, min(value/detect.WritesInReads, write)),
		RCU: mean(value-detect.WritesInReads*write, min(value, read)),
	}
}

// mean returns the mean second of a minute whose units have bounds. Its value is the proven
// part.
func mean(low, high float64) detect.Figure {
	low = max(0, min(low, high)) / seconds
	return detect.Figure{Value: low, Low: low, High: high / seconds}
}
