package sampling_test

import (
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
)

// TestSilenceOfSampledLoads compares how soon a load of so many signs a second counts as over
// after it ended, and how often one that goes on does.
func TestSilenceOfSampledLoads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rate   float64 // seconds with a sign
		latest int64   // seconds to the end, in nine of ten runs
		wrong  int     // of 200 runs that go on for 20 minutes, at most
	}{
		{"thirteen samples a second", 1, 60, 0},
		{"a sample in four seconds", 0.25, 60, 0},
		{"a sample in 17 seconds", 0.06, 180, 20},
		{"a sample in 100 seconds", 0.01, 900, 20},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		end := func(lasts int64) (at int64) {
			var s sampling.Silence
			for second := int64(1); second < lasts+detect.Horizon; second++ {
				if second <= lasts && random.Float64() < c.rate {
					s.Observe(second, true, true, 1)
				}
				quiet := second - s.Last()
				if s.Last() > 0 && quiet >= detect.ResolveSeconds && s.IsEnd(quiet) {
					return second
				}
			}
			return lasts + detect.Horizon
		}
		late, wrong := 0, 0
		const runs, lasts = 200, 1200
		for range runs {
			switch at := end(lasts); {
			case at < lasts:
				wrong++
			case at > lasts+c.latest:
				late++
			}
		}
		if late > runs/10 || wrong > c.wrong {
			t.Errorf("%s: of %d ends %d come more than %d s late, and %d too early", c.name, runs, late, c.latest, wrong)
		}
	}
}
