package board_test

import (
	"math"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestRefusedShareOfATable is of all requests from the first refused second to the last, also
// the ones in seconds that refuse nothing, and over a restart of the judge.
func TestRefusedShareOfATable(t *testing.T) {
	t.Parallel()
	refused := func(second int) int64 { // of 1,000 requests a second
		switch {
		case second < 40:
			return 300
		case second < 50:
			return 0
		}
		return 60
	}
	const seconds, restart = 90, 50
	var observed []*sketch.Window
	observe := func(b *board.Board, from, to int) *board.Board {
		for i := from; i < to; i++ {
			n := refused(i)
			total := sketch.Total{Requests: 1000, Load: sketch.Load{Write: 1_000_000}, ThrottledRequests: n, Throttled: sketch.Load{Write: sample.Milli(1000 * n)}}
			total.Refused[sample.Provisioned] = n
			observed = append(observed, &sketch.Window{Target: sample.Target{Table: "orders"}, Second: scenario.Began + int64(i), Total: total})
			b.Observe(observed[len(observed)-1])
			b.Settle(scenario.Began+int64(i), true)
		}
		return b
	}
	share := func(b *board.Board) float64 {
		for _, f := range b.Findings() {
			if f.Subject == detect.SubjectTable {
				return f.Throttling.Share
			}
		}
		t.Fatal("no finding")
		return 0
	}
	want := float64(40*300+40*60) / (seconds * 1000)
	if got := share(observe(board.New(board.Options{}), 0, seconds)); math.Abs(got-want) > 0.001 {
		t.Errorf("%.3f is refused, want %.3f", got, want)
	}
	observed = nil
	first := observe(board.New(board.Options{}), 0, restart)
	second := handOver(t, first, board.Options{}, observed)
	if got := share(observe(second, restart, seconds)); math.Abs(got-want) > 0.001 {
		t.Errorf("after a restart %.3f is refused, want %.3f", got, want)
	}
}
