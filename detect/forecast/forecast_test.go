package forecast_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
)

var forecastNow = time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)

// series is a key's traffic, hour by hour.
type series struct {
	days    int
	base    float64 // the busiest hour of the busiest weekday, today and without noise
	growth  float64 // units a day
	diurnal float64 // the night's dip, 0 to 1
	weekend float64 // what a weekend has of a workday; 0 is 1
	noise   float64 // standard deviation of an hour's logarithm
	drift   float64 // of a day's logarithm, which half stays for the next day
	spikes  float64 // chance that an hour is three times as high
	holes   float64 // chance that a day was not seen
	step    float64 // by how much all days of the newer half are higher
}

func (s series) peaks(seed uint64) []forecast.HourPeak {
	random := rand.New(rand.NewPCG(seed, 0))
	var all []forecast.HourPeak
	drift := 0.0
	for ago := s.days - 1; ago >= 0; ago-- {
		drift = 0.5*drift + s.drift*random.NormFloat64()
		hole := random.Float64() < s.holes
		for hour := 23; hour >= 0; hour-- {
			at := forecastNow.Add(-time.Duration(24*ago+hour) * time.Hour).Truncate(time.Hour)
			value := s.base - s.growth*(float64(ago)+float64(hour)/24)
			if ago < s.days/2 {
				value += s.step
			}
			value *= 1 - s.diurnal/2*(1+math.Cos(2*math.Pi*float64(at.Hour()-2)/24))
			if day := at.Weekday(); s.weekend > 0 && (day == time.Saturday || day == time.Sunday) {
				value *= s.weekend
			}
			value *= math.Exp(s.noise*random.NormFloat64() + drift)
			if random.Float64() < s.spikes {
				value *= 3
			}
			if !hole {
				all = append(all, forecast.HourPeak{Hour: at, WCU: max(value, 0), RCU: 1})
			}
		}
	}
	return all
}

// lift is by what a typical weekly peak is above the busiest hour without
// noise: the median over many weeks that do not grow.
func (s series) lift() float64 {
	s.base, s.growth, s.days = 1, 0, 7*400
	highest := map[int]float64{}
	for _, p := range s.peaks(99) {
		week := int(forecastNow.Sub(p.Hour).Hours() / 24 / 7)
		highest[week] = max(highest[week], p.WCU)
	}
	var all []float64
	for _, v := range highest {
		all = append(all, v)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// TestForecastFindsGrowth simulates keys that grow: the forecast is made, and
// the true day is within its interval as often as it should be.
func TestForecastFindsGrowth(t *testing.T) {
	t.Parallel()
	const runs = 300
	for _, c := range []struct {
		name string
		series
		made float64 // the least share of runs with a forecast of 100%
	}{
		{"five weeks, no season", series{days: 35, base: 700, growth: 6, noise: 0.02}, 0.95},
		{"two months by day and week", series{days: 60, base: 700, growth: 5, diurnal: 0.7, weekend: 0.6, noise: 0.05}, 0.95},
		{"a quarter with holes and outliers", series{days: 90, base: 600, growth: 4, diurnal: 0.7, weekend: 0.6, noise: 0.05, holes: 0.15, spikes: 0.0005}, 0.95},
		{"days that resemble the day before", series{days: 90, base: 650, growth: 5, diurnal: 0.7, weekend: 0.7, noise: 0.03, drift: 0.04}, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lift := c.lift()
			truth := map[float64]float64{} // days from now
			for _, share := range []float64{0.7, 1} {
				truth[share] = (1000*share/lift - c.base) / c.growth
			}
			made, within := map[float64]int{}, map[float64]int{}
			var growths []float64
			for run := range runs {
				f := forecast.New(c.peaks(uint64(run)+1), detect.HotKeyWrite, forecastNow)
				if f == nil {
					continue
				}
				growths = append(growths, f.Growth.Value/c.growth)
				for share, crossing := range map[float64]*detect.Crossing{0.7: f.At70, 1: f.At100} {
					if crossing == nil {
						continue
					}
					made[share]++
					at := forecastNow.Add(time.Duration(truth[share] * 24 * float64(time.Hour)))
					if !at.Before(crossing.Earliest.Add(-time.Hour)) && !at.After(crossing.Latest.Add(time.Hour)) {
						within[share]++
					}
				}
			}
			if float64(made[1]) < c.made*runs {
				t.Errorf("100%% is forecast in %d of %d runs", made[1], runs)
			}
			for share, n := range made {
				if truth[share] <= 3 { // reached already, or as good as
					continue
				}
				if covered := float64(within[share]) / float64(n); covered < 0.94 {
					t.Errorf("%.0f%% at day %.1f is within the interval in %d of %d", 100*share, truth[share], within[share], n)
				}
			}
			slices.Sort(growths)
			if middle := growths[len(growths)/2]; middle < 0.85 || middle > 1.25 {
				t.Errorf("the middle growth is %.2f of the true one", middle)
			}
			t.Logf("forecast in %d of %d; day %.1f within %d", made[1], runs, truth[1], within[1])
		})
	}
}

// TestForecastIsSilent simulates keys whose data prove nothing.
func TestForecastIsSilent(t *testing.T) {
	t.Parallel()
	const runs = 400
	for _, c := range []struct {
		name string
		series
		most int // runs with a forecast all the same
	}{
		{"flat", series{days: 90, base: 600}, 0},
		{"flat and noisy", series{days: 60, base: 600, noise: 0.2}, 12},
		{"day and night", series{days: 30, base: 600, diurnal: 0.9, noise: 0.05}, 12},
		{"workdays and weekends", series{days: 60, base: 600, diurnal: 0.7, weekend: 0.3, noise: 0.05}, 12},
		{"outliers", series{days: 60, base: 300, noise: 0.05, spikes: 0.002}, 12},
		{"days that resemble the day before", series{days: 60, base: 600, noise: 0.02, drift: 0.1}, 16},
		{"holes", series{days: 60, base: 600, noise: 0.1, holes: 0.4}, 12},
		{"a step", series{days: 60, base: 400, step: 200, diurnal: 0.5, noise: 0.05}, 12},
		{"shrinking", series{days: 60, base: 400, growth: -4, noise: 0.05}, 0},
		{"growth, but two weeks of it", series{days: 14, base: 700, growth: 10, noise: 0.01}, 0},
		{"growth, but seen on few days", series{days: 40, base: 700, growth: 10, noise: 0.01, holes: 0.75}, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made := 0
			for run := range runs {
				if forecast.New(c.peaks(uint64(run)+1), detect.HotKeyWrite, forecastNow) != nil {
					made++
				}
			}
			t.Logf("forecast in %d of %d", made, runs)
			if made > c.most {
				t.Errorf("a forecast in %d of %d runs, at most %d should have one", made, runs, c.most)
			}
		})
	}
}

func TestForecastEdges(t *testing.T) {
	t.Parallel()
	if forecast.New(nil, detect.HotKeyWrite, forecastNow) != nil {
		t.Error("a forecast of nothing")
	}
	grows := series{days: 60, base: 800, growth: 5}
	f := forecast.New(grows.peaks(1), detect.HotKeyWrite, forecastNow)
	if f == nil || f.At70 != nil || f.At100 == nil || f.Unit != "wcu" || f.Days != 59 {
		t.Fatalf("800 growing by 5 a day: %+v", f)
	}
	if off := f.At100.At.Sub(forecastNow).Hours()/24 - 40; math.Abs(off) > 1 {
		t.Errorf("1,000 is reached on %v, %.1f days off", f.At100.At, off)
	}
	if math.Abs(f.Growth.Value-5) > 0.01 || math.Abs(f.Level-800) > 5 {
		t.Errorf("growth %v and level %v of 5 and 800", f.Growth.Value, f.Level)
	}
	if got := forecast.New(grows.peaks(1), detect.HotKeyRead, forecastNow); got != nil {
		t.Errorf("its reads do not grow, but %+v", got)
	}
	if got := forecast.New(grows.peaks(1), detect.HotKeyWrite, forecastNow.Add(20*24*time.Hour)); got != nil {
		t.Errorf("a key not seen for 20 days: %+v", got)
	}
	slow := forecast.New(series{days: 60, base: 100, growth: 0.5}.peaks(1), detect.HotKeyWrite, forecastNow)
	if slow == nil || slow.At70 != nil || slow.At100 != nil {
		t.Errorf("growth that takes years has no date: %+v", slow)
	}
	// The order of the peaks does not matter.
	peaks := grows.peaks(3)
	slices.Reverse(peaks)
	again, first := forecast.New(peaks, detect.HotKeyWrite, forecastNow), forecast.New(grows.peaks(3), detect.HotKeyWrite, forecastNow)
	if *again.At100 != *first.At100 || again.Growth != first.Growth {
		t.Error("the order of the peaks changes the forecast")
	}
}
