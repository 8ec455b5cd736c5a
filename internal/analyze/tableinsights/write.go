package tableinsights

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/analyze"
)

const (
	// width is the length of a line that fits a terminal of 80 columns.
	width = 79
	// maxRows, maxCalm and maxExplained are the most keys that a terminal shows, the most
	// calm ones among these, and the most that are explained; JSON has all.
	maxRows, maxCalm, maxExplained = 25, 5, 8
)

func (r *Result) write(out io.Writer, format analyze.Format) error {
	if format == analyze.FormatJSON {
		all, err := wording.JSON(r)
		if err == nil {
			_, err = io.WriteString(out, all)
		}
		return err
	}
	_, err := io.WriteString(out, r.text())
	return err
}

// text returns the result for a person.
func (r *Result) text() string {
	var b strings.Builder
	paragraph(&b, 0, r.verdict())
	if len(r.Keys) > 0 {
		b.WriteString("\n" + rows(r.Keys) + "\n")
		if note := columns(r.Keys); note != "" {
			paragraph(&b, 0, note)
		}
		explain(&b, r.Keys)
	}
	if worst := r.Items; len(worst) > 0 && worthItems(worst) {
		b.WriteString("\nSingle items\n" + rows(groupAlike(worst)) + "\n")
		if v := worst[0].Verdict; v == contributors.Over || v == contributors.AtLimit {
			paragraph(&b, 0, "An item that is over a limit stays so: no split of its partition helps it.")
		}
	}
	b.WriteString("\n")
	for _, note := range r.Notes {
		paragraph(&b, 0, note)
	}
	if r.Judged {
		paragraph(&b, 0, r.next())
	}
	return b.String()
}

// verdict returns the first sentence; never that all is well.
func (r *Result) verdict() string {
	if !r.Judged {
		return "Nothing could be judged: " + r.Unjudged + "."
	}
	keys, items := count(r.Keys), count(r.Items)
	switch {
	case keys.over > 0:
		return fmt.Sprintf("Over a limit, or at it, in the mean of a minute: %s.", plural(int64(keys.over), "key"))
	case items.over > 0:
		return fmt.Sprintf("Over a limit, or at it, in the mean of a minute: %s.", plural(int64(items.over), "single item"))
	case keys.full > 0:
		return fmt.Sprintf("A partition was full while requests of %s were throttled. No key is proven over a limit in the mean of a minute.", plural(int64(keys.full), "key"))
	case keys.served > 0:
		return fmt.Sprintf("Over what one partition serves in the mean of a minute, by values that are approximate: %s. Meanwhile no request of that was throttled because of a key range.", plural(int64(keys.served), "key"))
	case keys.unknown > 0:
		s := fmt.Sprintf("No key is proven over a limit in the mean of a minute; of %s it is not known.", plural(int64(keys.unknown), "key"))
		if r.KeyRange != nil && *r.KeyRange == 0 {
			s += " No partition was full."
		}
		return s
	case keys.throttled > 0:
		return fmt.Sprintf("No reported key is over a limit in the mean of a minute. Requests of %s were throttled, for another reason than a full partition, or for one that is not known.", plural(int64(keys.throttled), "key"))
	case keys.near > 0:
		return fmt.Sprintf("No reported key is over a limit in the mean of a minute. Near it, or possibly so: %s. Single seconds, which decide, are not seen.", plural(int64(keys.near), "key"))
	}
	return "No reported key is over a limit in the mean of a minute. Single seconds, which decide, are not seen."
}

// counts are how many keys are over a limit, or at it; had requests throttled while a
// partition was full; are over and served; may be over, or were not counted; had requests
// throttled though no partition is known to have been full; and are or may be near a limit.
type counts struct{ over, full, served, unknown, throttled, near int }

func count(keys []contributors.Key) (n counts) {
	for i := range keys {
		switch k := &keys[i]; k.Verdict {
		case contributors.Over, contributors.AtLimit:
			n.over++
		case contributors.PartitionFull:
			n.full++
		case contributors.OverNotThrottled:
			n.served++
		case contributors.Possible:
			n.unknown++
		case contributors.NotCounted:
			if k.Full() > 0 {
				n.full++
			} else {
				n.unknown++
			}
		case contributors.Near, contributors.PossiblyNear, contributors.Throttled:
			if k.Throttled > 0 {
				n.throttled++
			} else {
				n.near++
			}
		case contributors.NotOver:
		}
	}
	return n
}

// next names a way to learn more about a key.
func (r *Result) next() string {
	return "Which seconds, why, and how many shards: from the table's stream with reporter analyze --stream " + r.Table +
		", or from samples of the application's requests."
}

// columns explains two columns that cover different minutes.
func columns(keys []contributors.Key) string {
	for i := range keys {
		if keys[i].Throttled > 0 {
			return "WCU/S and RCU/S are those of MINUTE, on which the verdict rests; THROTTLED is the sum of all minutes."
		}
	}
	return ""
}

// fewAlike is the number of one key's items with one verdict, none over a limit, from
// which one row stands for all.
const fewAlike = 3

// groupAlike returns items, with one in place of one key's items that differ only in
// figures.
func groupAlike(items []contributors.Key) (all []contributors.Key) {
	type kind struct {
		key     string
		verdict contributors.Verdict
	}
	of := make(map[kind][]contributors.Key)
	for _, k := range items {
		of[kind{k.Key, k.Verdict}] = append(of[kind{k.Key, k.Verdict}], k)
	}
	told := make(map[kind]bool)
	for _, k := range items {
		as := kind{k.Key, k.Verdict}
		switch {
		case len(of[as]) < fewAlike || k.Verdict == contributors.Over || k.Verdict == contributors.AtLimit:
			all = append(all, k)
		case !told[as]:
			told[as] = true
			all = append(all, sumKeys(of[as]))
		}
	}
	return all
}

// sumKeys returns items as one: the bounds hold each of them, and the throttled requests
// are their sum. It has no minute if theirs differ.
func sumKeys(items []contributors.Key) contributors.Key {
	k := items[0]
	k.SortKey = new(plural(int64(len(items)), "item"))
	for _, other := range items[1:] {
		k.Throttled += other.Throttled
		if k.Bounds == nil || other.Bounds == nil {
			k.Bounds = nil
			continue
		}
		k.Bounds = &contributors.Bounds{
			WCU: contributors.Range{Low: min(k.WCU.Low, other.WCU.Low), High: max(k.WCU.High, other.WCU.High)},
			RCU: contributors.Range{Low: min(k.RCU.Low, other.RCU.Low), High: max(k.RCU.High, other.RCU.High)},
		}
		if k.Minute != nil && !k.Minute.Equal(*other.Minute) {
			k.Minute = nil
		}
	}
	return k
}

// rows writes keys, the worst first.
func rows(keys []contributors.Key) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Format.Header = text.FormatUpper
	t.AppendHeader(table.Row{"severity", "verdict", "key", "minute", "wcu/s", "rcu/s", "throttled"})
	shown := min(len(keys), maxRows, notable(keys)+maxCalm)
	for i := range keys[:shown] {
		k := &keys[i]
		name := wording.Printable(k.Key)
		if k.SortKey != nil {
			name += " / " + wording.Printable(*k.SortKey)
		}
		row := table.Row{k.Severity, k.Verdict, text.Trim(name, 40), "", "", "", wording.Count(k.Throttled)}
		if k.Bounds != nil {
			row[4], row[5] = k.WCU, k.RCU
			if k.Minute != nil {
				row[3] = k.Minute.UTC().Format(time.RFC3339)
			}
		}
		t.AppendRow(row)
	}
	var right []table.ColumnConfig
	for _, name := range []string{"wcu/s", "rcu/s", "throttled"} {
		right = append(right, table.ColumnConfig{Name: name, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	if more := len(keys) - shown; more > 0 {
		return t.Render() + fmt.Sprintf("\nand %s more: -o json has all", wording.Count(int64(more)))
	}
	return t.Render()
}

// notable returns how many keys are more than just not over; these are the first.
func notable(keys []contributors.Key) int {
	for i := range keys {
		if calm(&keys[i]) {
			return i
		}
	}
	return len(keys)
}

// calm reports whether nothing is to be said of a key: no minute's mean may be over, and
// nothing was throttled.
func calm(k *contributors.Key) bool {
	return k.Throttled == 0 && (k.Verdict == contributors.NotOver || k.Verdict == contributors.NotCounted)
}

// explain gives the reason and the first remedy of the worst keys near or over a limit.
// Text that several keys share is printed for the first of them.
func explain(b *strings.Builder, keys []contributors.Key) {
	near := 0
	for i := range keys[:min(len(keys), maxExplained)] {
		k := &keys[i]
		if calm(k) {
			continue
		}
		if k.Verdict == contributors.PossiblyNear {
			if near++; near > 1 {
				continue
			}
		}
		fmt.Fprintf(b, "\n%s\n", wording.Quote(k.Key))
		paragraph(b, 2, k.Why)
		if k.First != "" {
			paragraph(b, 2, "First: "+k.First)
		}
	}
}

// paragraph writes sentences behind an indent, in lines that a terminal shows.
func paragraph(out io.Writer, indent int, sentences string) {
	for line := range strings.Lines(text.WrapSoft(sentences, width-indent) + "\n") {
		fmt.Fprintln(out, strings.Repeat(" ", indent)+strings.TrimRight(line, " \n"))
	}
}
