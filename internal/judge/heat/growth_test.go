package heat_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/sketch"
)

func TestAKeyIsWarmFromATenthOfALimit(t *testing.T) {
	t.Parallel()
	for load, want := range map[sketch.Load]bool{
		{Write: 100_000}: true, {Write: 99_999}: false, {Read: 300_000}: true, {Read: 299_999, Write: 99_999}: false,
	} {
		if heat.Warm(load) != want {
			t.Errorf("a second of %+v: warm is %t, want %t", load, !want, want)
		}
	}
}

func TestAWarmKeyIsNearestToOneLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		index string
		most  sketch.Load
		want  detect.Kind
	}{
		{"", sketch.Load{Write: 500, Read: 1500}, detect.HotKeyWrite},
		{"", sketch.Load{Write: 500, Read: 1501}, detect.HotKeyRead},
		{"by-date", sketch.Load{Write: 500}, detect.HotGSIKey},
		{"by-date", sketch.Load{Read: 500}, detect.HotKeyRead},
	} {
		if got := heat.GrowthKind(c.index, c.most); got != c.want {
			t.Errorf("%+v in index %q is %s, want %s", c.most, c.index, got, c.want)
		}
	}
}

func TestAPeakIsInUnitsOfItsHour(t *testing.T) {
	t.Parallel()
	if got := heat.HourOf(7300); got != 7200 {
		t.Errorf("second 7300 is of hour %d, want 7200", got)
	}
	at := time.Unix(7200, 0).UTC()
	most := detect.MaxLoad(sketch.Load{Write: 1500, Read: 10}, sketch.Load{Write: 10, Read: 2500})
	if got, want := heat.HourPeak(at, most), (forecast.HourPeak{Hour: at, WCU: 1.5, RCU: 2.5}); got != want {
		t.Errorf("peak is %+v, want %+v", got, want)
	}
}
