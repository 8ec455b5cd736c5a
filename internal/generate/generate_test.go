package generate_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/generate"
	"github.com/keyheat/keyheat/sample"
)

// start is 2.5 s before an hour, a day and, with them, a rolling key end.
var start = time.Date(2026, 11, 20, 23, 59, 57, 500e6, time.UTC)

// target is what a load is counted for, in a second from start.
type target struct {
	table, index, pk string
	second           int64
}

type load struct {
	read, write sample.Milli
	records     int
}

// run makes the traffic and counts it, and checks what holds of any traffic.
func run(t *testing.T, c generate.Config) map[target]load {
	t.Helper()
	records, err := generate.Records(c)
	if err != nil {
		t.Fatal(err)
	}
	loads := map[target]load{}
	last := int64(0)
	for r := range records {
		if reason := r.Check(); reason != "" || r.Rate != c.Rate {
			t.Fatalf("a record that is %s: %+v", reason, r)
		}
		if r.Time < last || r.Time >= c.Start.Add(c.Duration).UnixMilli() {
			t.Fatalf("time %d after %d", r.Time, last)
		}
		last = r.Time
		at := target{r.Table, r.Index, r.PK.Text, (r.Time - c.Start.UnixMilli()) / 1000}
		read, write := r.Load()
		l := loads[at]
		loads[at] = load{l.read + read, l.write + write, l.records + 1}
	}
	return loads
}

func planted() generate.Config {
	c := generate.Default(start, 4*time.Second)
	c.Hot = append(c.Hot, generate.HotKey{
		Table: "orders", PK: "flash-sale", WCU: 1010, RCU: 70, After: time.Second, For: 2 * time.Second,
	})
	c.Hot = append(c.Hot, generate.HotKey{Table: "clicks", WCU: 1300, Layout: "2006-01-02T15"})
	return c
}

func TestPlantsAreExact(t *testing.T) {
	t.Parallel()
	loads := run(t, planted())
	for second := range int64(4) {
		flash := load{}
		if second == 1 || second == 2 {
			flash = load{read: 70_000, write: 1_010_000, records: 1080}
		}
		for at, want := range map[target]load{
			{"orders", "", "merchant#7", second}:         {write: 1_500_000, records: 1500},
			{"customers", "", "settings#global", second}: {read: 4_000_000, records: 4000},
			{"orders", "by-status", "OPEN", second}:      {write: 1_200_000, records: 1200},
			{"orders", "", "flash-sale", second}:         flash,
		} {
			if loads[at] != want {
				t.Errorf("%+v: %+v, want %+v", at, loads[at], want)
			}
		}
	}
}

func TestRollingKeysRoll(t *testing.T) {
	t.Parallel()
	loads := run(t, planted())
	for at, want := range map[target]sample.Milli{
		{"events", "", "2026-11-20", 1}:    1_100_000,
		{"events", "", "2026-11-20", 2}:    550_000, // midnight is half a second into it
		{"events", "", "2026-11-21", 2}:    550_000,
		{"events", "", "2026-11-21", 3}:    1_100_000,
		{"clicks", "", "2026-11-20T23", 1}: 1_300_000,
		{"clicks", "", "2026-11-21T00", 3}: 1_300_000,
		{"events", "", "2026-11-20", 3}:    0,
	} {
		if got := loads[at].write; got != want {
			t.Errorf("%+v: %d, want %d", at, got, want)
		}
	}
}

// TestOneItemIsReadWhole: the planted units are of reads that cost several.
func TestOneItemIsReadWhole(t *testing.T) {
	t.Parallel()
	c := generate.Config{
		Start: start, Duration: 2 * time.Second, Rate: 1, Callers: []string{"web", "app"},
		Hot: []generate.HotKey{
			{Table: "catalog", PK: "product#1", Item: "page", Bytes: 20_000, RCU: 4000},
			{Table: "orders", PK: "merchant#1", Rising: true, WCU: 1600},
		},
	}
	for at, l := range run(t, c) {
		want := load{write: 1_600_000, records: 1600}
		if at.table == "catalog" {
			want = load{read: 4_000_000, records: 800}
		}
		if l != want {
			t.Errorf("%+v: %+v, want %+v", at, l, want)
		}
	}
	records, err := generate.Records(c)
	if err != nil {
		t.Fatal(err)
	}
	last := sample.Key{}
	for r := range records {
		if r.Caller != "web" && r.Caller != "app" || r.Table == "catalog" && (r.Op != sample.GetItem || r.SK.Text != "page") {
			t.Fatalf("%+v", r)
		}
		if r.Table == "orders" {
			if at, before := r.SK.Text[:len("2026-11-20T23:59:57.500Z")], last.Text; before > at+"#99" {
				t.Fatalf("the sort key %s comes after %s", r.SK.Text, before)
			}
			last = r.SK
		}
	}
}

// TestSamplingIsFair holds the sampled estimate of each plant to five standard
// deviations of a Bernoulli sample, and the count of samples likewise.
func TestSamplingIsFair(t *testing.T) {
	t.Parallel()
	c := planted()
	c.Duration, c.Rate = 60*time.Second, 0.05
	total := load{}
	for at, l := range run(t, c) {
		if at.pk == "merchant#7" {
			total.write += l.write
			total.records += l.records
		}
	}
	requests := 1500.0 * 60
	sigma := math.Sqrt(requests * (1 - c.Rate) / c.Rate)
	if off := math.Abs(float64(total.write)/1000 - requests); off > 5*sigma {
		t.Errorf("estimated %d thousandths of %.0f units", total.write, requests)
	}
	if total.write != sample.Milli(total.records)*20_000 {
		t.Errorf("%d samples of 20 units each give %d", total.records, total.write)
	}
}

func TestBackgroundFollowsZipf(t *testing.T) {
	t.Parallel()
	for _, s := range []float64{0, 0.8, 1, 1.2} {
		const requests, keys = 200_000, 1000
		c := generate.Config{
			Seed: 3, Start: start, Duration: time.Second, Rate: 1,
			Background: generate.Background{Tables: []string{"orders"}, Requests: requests, Keys: keys, Exponent: s, Reads: 0.25},
		}
		norm := 0.0
		for i := 1; i <= keys; i++ {
			norm += math.Pow(float64(i), -s)
		}
		loads := run(t, c)
		for pk, rank := range map[string]float64{"id#1": 1, "id#2": 2, "id#10": 10, "id#1000": 1000} {
			p := math.Pow(rank, -s) / norm
			got := float64(loads[target{"orders", "", pk, 0}].records)
			if math.Abs(got-p*requests) > 5*math.Sqrt(p*requests) {
				t.Errorf("exponent %g: %s has %.0f requests, expected %.0f", s, pk, got, p*requests)
			}
		}
	}
}

// TestDefaultHasNoOtherHotKey holds that what is found is what was planted.
func TestDefaultHasNoOtherHotKey(t *testing.T) {
	t.Parallel()
	for at, l := range run(t, generate.Default(start, 10*time.Second)) {
		if strings.HasPrefix(at.pk, "id#") && (l.write > 500_000 || l.read > 1_500_000) {
			t.Errorf("%+v has %+v", at, l)
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	t.Parallel()
	lines := func(c generate.Config) (b []byte) {
		records, err := generate.Records(c)
		if err != nil {
			t.Fatal(err)
		}
		for r := range records {
			b = append(r.AppendJSON(b), '\n')
		}
		return b
	}
	c := planted()
	c.Rate = 0.1
	first := lines(c)
	if len(first) == 0 || !bytes.Equal(first, lines(c)) {
		t.Error("the same seed gave other bytes")
	}
	c.Seed++
	if bytes.Equal(first, lines(c)) {
		t.Error("another seed gave the same bytes")
	}
}

func TestRecordsStopWhenAsked(t *testing.T) {
	t.Parallel()
	records, err := generate.Records(generate.Default(start, 1000*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range records {
		if n++; n == 10 {
			break
		}
	}
	if n != 10 {
		t.Errorf("made %d", n)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(c *generate.Config){
		"start is missing":          func(c *generate.Config) { c.Start = time.Time{} },
		"duration is 0s":            func(c *generate.Config) { c.Duration = 0 },
		"sampling rate is 1.5":      func(c *generate.Config) { c.Rate = 1.5 },
		"sampling rate is NaN":      func(c *generate.Config) { c.Rate = math.NaN() },
		"background: no tables":     func(c *generate.Config) { c.Background.Tables = nil },
		"background: table \"\"":    func(c *generate.Config) { c.Background.Tables = []string{""} },
		"0 keys a table":            func(c *generate.Config) { c.Background.Keys = 0 },
		"-5 requests a second":      func(c *generate.Config) { c.Background.Requests = -5 },
		"hot key 1: no pk":          func(c *generate.Config) { c.Hot[0].PK = "" },
		"hot key 2: no load":        func(c *generate.Config) { c.Hot[1].RCU = 0 },
		"hot key 3: table \"\"":     func(c *generate.Config) { c.Hot[2].Table = "" },
		"hot key 1: negative time":  func(c *generate.Config) { c.Hot[0].After = -1 },
		"hot key 1: -1 write units": func(c *generate.Config) { c.Hot[0].WCU = -1 },
		"hot key 4: table \"\"":     func(c *generate.Config) { c.Hot[3].Table = "" },
	} {
		c := generate.Default(start, time.Second)
		spoil(&c)
		if _, err := generate.Records(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	c := generate.Default(start, time.Second)
	c.Background = generate.Background{}
	if loads := run(t, c); len(loads) == 0 {
		t.Error("plants need no background, yet nothing was made")
	}
}
