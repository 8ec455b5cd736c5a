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
	// width is what a terminal of 80 columns shows in one line.
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
		explain(&b, r.Keys)
	}
	if worst := r.Items; len(worst) > 0 && worthItems(worst) {
		b.WriteString("\nSingle items\n" + rows(worst) + "\n")
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

// verdict returns what is said before all else; never that all is well.
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
	case keys.unknown > 0:
		return fmt.Sprintf("No key is proven over a limit in the mean of a minute; of %s it is not known.", plural(int64(keys.unknown), "key"))
	}
	return "No reported key is over a limit in the mean of a minute. Single seconds, which decide, are not seen."
}

// counts are how many keys are over a limit, or at it; had requests throttled while a
// partition was full; and may be over, or were not counted.
type counts struct{ over, full, unknown int }

func count(keys []contributors.Key) (n counts) {
	for i := range keys {
		switch keys[i].Verdict {
		case contributors.Over, contributors.AtLimit:
			n.over++
		case contributors.PartitionFull:
			n.full++
		case contributors.Possible, contributors.NotCounted:
			n.unknown++
		}
	}
	return n
}

// next says how to learn more of a key.
func (r *Result) next() string {
	return "Which seconds, why, and how many shards: from the table's stream with reporter analyze --stream " + r.Table +
		", or from samples of the application's requests."
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
			row[3], row[4], row[5] = k.Minute.UTC().Format(time.RFC3339), k.WCU, k.RCU
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

// explain says why, of the worst keys that are not just not over.
func explain(b *strings.Builder, keys []contributors.Key) {
	for i := range keys[:min(len(keys), maxExplained)] {
		k := &keys[i]
		if calm(k) {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", wording.Quote(k.Key))
		paragraph(b, 2, k.Why)
	}
}

// paragraph writes sentences behind an indent, in lines that a terminal shows.
func paragraph(out io.Writer, indent int, sentences string) {
	for line := range strings.Lines(text.WrapSoft(sentences, width-indent) + "\n") {
		fmt.Fprintln(out, strings.Repeat(" ", indent)+strings.TrimRight(line, " \n"))
	}
}
