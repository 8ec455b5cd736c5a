package say

import (
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample/position"
)

// Partitions says how far a table's partitions are known, and by what evidence.
func Partitions(v *partition.View) string {
	table, shards := wording.Printable(wording.Shorten(v.Table, shownKey)), wording.Count(int64(len(v.Partitions)))
	inferred := fmt.Sprintf("Partitions of %s, inferred from at least %s keys on %s stream shards: %d contradictions. An unrelated hash would agree less than once in 10^%d. AWS does not confirm it.",
		table, wording.Count(int64(v.Keys)), shards, len(v.Contradictions), int(min(v.Evidence, 99)))
	switch v.State {
	case partition.One:
		return fmt.Sprintf("%s has one partition: all keys share its 1,000 WCU/s and 3,000 RCU/s.", table)
	case partition.Inferred:
		return inferred
	case partition.Doubtful:
		return inferred + " Treat the ranges as possible only."
	case partition.Withdrawn:
		return fmt.Sprintf("No partition ranges for %s: at least %d of its keys contradict the hash that DynamoDB is known to use.", table, len(v.Contradictions))
	}
	text := fmt.Sprintf("The partition ranges of %s are not known yet: %s keys seen on %s stream shards, some %s more needed.",
		table, wording.Count(int64(v.Keys)), shards, wording.Count(int64(max(1, v.Needed))))
	if n := len(v.Contradictions); n > 0 {
		text += fmt.Sprintf(" At least %d keys contradicted the ranges of before, so Keyheat gave those up.", n)
	}
	return text
}

// Walk tells of load that walked through a table's key space, and the way to end it.
func Walk(w *detect.Walk) string {
	text := fmt.Sprintf("From %s to %s UTC load walked through the key space, one partition after another", w.From.UTC().Format(time.DateTime), w.Through.UTC().Format(time.DateTime))
	if w.Share > 0 {
		text += fmt.Sprintf(", with up to %s of one partition's limit", wording.Part(w.Share))
	}
	return text + ". Shuffle the job's rows, or slow the job: no split comes in time."
}

// MapState says in a word how far a table's partitions are known.
func MapState(s partition.State) string {
	return map[partition.State]string{
		partition.One: "one partition", partition.Learning: "learning", partition.Inferred: "inferred",
		partition.Doubtful: "doubtful", partition.Withdrawn: "withdrawn",
	}[s]
}

// PartitionName names a partition by its range, or by its shard where the range is unknown.
func PartitionName(state partition.State, r *detect.PartitionRange) string {
	if !state.Claims() || !r.Keys {
		name := r.Shard
		return "shard …" + wording.Printable(name[max(0, len(name)-8):])
	}
	return edge(r.From, r.Low) + "–" + edge(r.High, r.To)
}

// FullestPartition says how full the fullest of a table's partitions is. It is empty if
// nothing is known of their loads.
func FullestPartition(state partition.State, all []detect.PartitionLoad) string {
	fullest, full := 0, 0
	for i := range all {
		if all[i].Utilization() > all[fullest].Utilization() {
			fullest = i
		}
		if all[i].Utilization() >= 1 {
			full++
		}
	}
	if len(all) == 0 || all[fullest].Utilization() == 0 {
		return ""
	}
	c := &all[fullest]
	name := PartitionName(state, &c.PartitionRange)
	switch keys := BusyKeys(c.Busiest); {
	case full == 0:
		return fmt.Sprintf("The fullest of %s partitions, %s, carries at least %s of its limit.", wording.Count(int64(len(all))), name, wording.Part(c.Utilization()))
	case c.HottestShare() >= detect.DefaultWarning: // it has a finding of its own
		fills := "fills"
		if c.HottestShare() < 1 {
			fills = "nearly fills"
		}
		return fmt.Sprintf("%d of %s partitions %s full: %s. One key %s it: %s.", full, wording.Count(int64(len(all))), isOrAre(full), name, fills, quote(c.Busiest[0].Key))
	default:
		text := fmt.Sprintf("%d of %s partitions %s full without a single hot key: %s.", full, wording.Count(int64(len(all))), isOrAre(full), name)
		if keys != "" {
			text += " Its busiest keys: " + keys + "."
		}
		return text
	}
}

// PartitionTime tells which seconds the loads of a report's partitions are of.
func PartitionTime(ofFiles bool) string {
	if ofFiles {
		return "The load of a partition is the load of its highest second."
	}
	return "The load of a partition is the load of its highest second in the period's last minute."
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// edge writes a border between two positions, with its doubt in units of its last digit.
func edge(low, high position.Position) string {
	middle := low + (high-low)/2
	if low == 0 {
		middle = 0
	}
	if high == ^position.Position(0) {
		return high.String()
	}
	doubt := (high - low) / 2 >> 48
	if low == 0 || doubt == 0 {
		return middle.String()
	}
	return fmt.Sprintf("%s±%02x", middle, uint64(doubt))
}

// busyShare is the share of a partition's writes from which a key is named.
const busyShare = 0.02

// BusyKeys names a partition's busiest keys with their shares of its writes.
func BusyKeys(busiest []detect.BusyKey) string {
	var all []string
	for _, k := range busiest {
		if k.Share < busyShare {
			break
		}
		all = append(all, quote(k.Key)+" "+wording.Part(k.Share))
	}
	return strings.Join(all, ", ")
}

// DescribeSplit says where DynamoDB divided a partition.
func DescribeSplit(s *detect.PartitionSplit) string {
	text := fmt.Sprintf("DynamoDB split %s–%s near %s", s.Low, s.High, edge(s.CutLow, s.CutHigh))
	if s.CutLow == s.CutHigh {
		text += ", inside one key's items"
	}
	return text + "." + forecastOutcomes[s.Outcome]
}

// forecastOutcomes say how a forecast of a split compares with the split.
var forecastOutcomes = map[detect.ForecastOutcome]string{
	detect.ForecastBoth:    " The forecast was right by both rules.",
	detect.ForecastMedian:  " The forecast was right: it halved the load.",
	detect.ForecastMiddle:  " The forecast was right: it halved the range.",
	detect.ForecastNeither: " The forecast was wrong.",
}

// ForecastScore says how many forecasts of a table's splits were right; empty for none.
func ForecastScore(splits []detect.PartitionSplit) string {
	scored, right := 0, 0
	for i := range splits {
		switch splits[i].Outcome {
		case "":
		case detect.ForecastNeither:
			scored++
		default:
			scored, right = scored+1, right+1
		}
	}
	if scored == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d forecasts of splits were right.", right, scored)
}

// fullPartition names the partition of a finding: partition 0x4a–0x5f.
func fullPartition(f *detect.Finding) string {
	r := &f.Partition.PartitionRange
	if !r.Keys || r.From == 0 && r.To == ^position.Position(0) {
		return "the only partition"
	}
	return "partition " + PartitionRange(r)
}

// PartitionRange names a partition by its range, 0x4a–0x5f, with its edges as short as they
// differ.
func PartitionRange(r *detect.PartitionRange) string {
	if !r.Keys || r.From.Cell(8) == r.To.Cell(8) {
		return PartitionName(partition.Inferred, r)
	}
	const digits = len("0x4a")
	return edge(r.From, r.Low)[:digits] + "–" + edge(r.High, r.To)[:digits]
}

// ofPartition writes a partition's load as parts of its limit.
func ofPartition(l *detect.PartitionLoad) string {
	figure, limit, unit := l.WCU, detect.Units(detect.PartitionWrite), "write"
	if l.RCU.Low/detect.Units(detect.PartitionRead) > l.WCU.Low/limit {
		figure, limit, unit = l.RCU, detect.Units(detect.PartitionRead), "read"
	}
	return fmt.Sprintf("%s of its %s limit", percents(figure.Low/limit, figure.High/limit), unit)
}

// causeInPartition says how full a partition is, and names its busiest keys.
func causeInPartition(f *detect.Finding) string {
	text := fmt.Sprintf("%s of %s %s %s (inferred).", capital(fullPartition(f)), subject(f), tense(f, "carries", "carried"), ofPartition(f.Partition))
	if keys := BusyKeys(f.Partition.Busiest[:min(2, len(f.Partition.Busiest))]); keys != "" {
		return text + " Busiest: " + keys + "."
	}
	return text
}

// percents writes bounds shorter than a sentence's: 124–131%.
func percents(low, high float64) string {
	return strings.Replace(wording.PercentRange(low, high), "% to ", "–", 1)
}

// healsBySplit says what a split of the partition would leave by either rule.
func healsBySplit(l *detect.PartitionLoad) string {
	least, most := 1.0, 0.0
	for _, c := range l.Cuts {
		least, most = min(least, c.Fuller), max(most, c.Fuller)
	}
	u := l.Utilization()
	return fmt.Sprintf("Likely, in minutes: a split leaves one half %s of the limit.", percents(least*u, most*u))
}

// endedBySplit says when and where DynamoDB split the partition of a finding that is over.
func endedBySplit(s *detect.PartitionSplit) string {
	return fmt.Sprintf("It did: DynamoDB split the partition near %s at %s.", edge(s.CutLow, s.CutHigh), s.At.UTC().Format("15:04:05 UTC"))
}

// detailsOfPartition are the figures of a partition in its fullest second.
func detailsOfPartition(l *detect.PartitionLoad) string {
	text := PartitionName(partition.Inferred, &l.PartitionRange) + ": " + ofPartition(l)
	if l.KeyCount > 0 {
		text += fmt.Sprintf("; %d keys", l.KeyCount)
	}
	for _, c := range l.Cuts {
		text += fmt.Sprintf("; a split by %s near %s leaves %s of the load in one half", wording.Printable(c.Rule), c.At, wording.Part(c.Fuller))
	}
	return text + "."
}

// UnknownLoad explains why the load of a partition is not known; past means of a chosen
// time instead of now.
func UnknownLoad(s partition.State, past bool) string {
	switch {
	case !s.IsKnown():
		return "Not known: the ranges are not claimed."
	case past:
		return "Not known: no second of this time is stored."
	}
	return "Not known: no second of this table is stored."
}
