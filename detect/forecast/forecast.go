package forecast

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// HourPeak is the highest second of a key in one hour, in units a second.
type HourPeak struct {
	Hour     time.Time
	WCU, RCU float64
}

// day is the highest hour of 24 hours. They ended ago days before now.
type day struct {
	ago  int
	peak float64
	// even is the peak without the weekly rhythm: divided by its weekday's median peak,
	// as a share of the middle weekday's.
	even float64
}

// t returns the day's time: 0 is today, the past is negative.
func (d day) t() float64 { return -float64(d.ago) }

func (d day) season() int { return d.ago % 7 }

// New returns the trend of a key's peaks: of writes for HotKeyWrite and HotGSIKey, of
// reads for HotKeyRead. Peaks may have holes and be in any order. It returns nil if the
// data do not prove growth.
//
// The daily peaks give the growth: Sen's slope over pairs of the same weekday only, so
// that neither day and night nor the week looks like a trend. Its distribution-free
// interval is the seasonal Kendall test's (Hirsch, Slack and Smith 1982; Gilbert 1987),
// widened if one day resembles the day before (Bayley and Hammersley 1946). Medians
// throughout: single days do not move it. The weekly peaks give the level, since they
// reach the limit first; they grow in proportion to the daily ones.
//
// The trend is linear. Exponential growth reaches the limit earlier than the forecast; a
// later forecast corrects it.
func New(peaks []HourPeak, k detect.Kind, now time.Time) *detect.Forecast {
	days := dailyPeaks(peaks, k, now)
	slope, ok := slopeOf(days)
	if !ok || slope.Low <= 0 || !halvesAgree(days, slope.Value) {
		return nil
	}
	middle, low, high := trendOf(days, slope.Value), trendOf(days, slope.Low), trendOf(days, slope.High)
	if !middle.isRising() || !low.isRising() || !high.isRising() {
		return nil
	}
	full := detect.Units(detect.Limit(k))
	f := &detect.Forecast{
		Unit: detect.Side(k, "wcu", "rcu"), Level: middle.level, Days: len(days),
		Growth: detect.Figure{Value: middle.growth, Low: low.growth, High: high.growth},
	}
	reach := min(reachFactor*float64(days[len(days)-1].ago+1), maxReach)
	cross := func(to float64) *detect.Crossing {
		at := middle.daysUntil(to, 0)
		return newCrossing(now, reach, at, high.daysUntil(to, 1), low.daysUntil(to, -1))
	}
	f.At70, f.At100 = cross(detect.ForecastEarlyShare*full), cross(full)
	return f
}

// dailyPeaks returns the days with the key, the newest first. Days are counted back from
// now, so that each holds a whole day and night.
func dailyPeaks(peaks []HourPeak, k detect.Kind, now time.Time) []day {
	highest := map[int]float64{}
	for _, p := range peaks {
		ago := int(math.Floor(now.Sub(p.Hour).Hours() / 24))
		if ago < 0 {
			continue
		}
		highest[ago] = max(highest[ago], detect.Side(k, p.WCU, p.RCU))
	}
	days := make([]day, 0, len(highest))
	for ago, peak := range highest {
		days = append(days, day{ago: ago, peak: peak})
	}
	slices.SortFunc(days, func(a, b day) int { return cmp.Compare(a.ago, b.ago) })
	// The oldest day may have been seen only in part.
	if len(days) > 0 {
		days = days[:len(days)-1]
	}
	return smoothDays(days)
}

// smoothDays removes the weekly rhythm from the days: a weekend with half of a workday's
// load has half of its growth too.
func smoothDays(days []day) []day {
	middle := weekdayMedians(days, func(d day) float64 { return d.peak })
	var all []float64
	for _, m := range middle {
		if !math.IsNaN(m) {
			all = append(all, m)
		}
	}
	slices.Sort(all)
	for i := range days {
		d := &days[i]
		d.even = d.peak
		if has := middle[d.season()]; has > 0 {
			d.even = d.peak * median(all) / has
		}
	}
	return days
}

// slopeOf returns the slope with its interval; false if there are too few data.
func slopeOf(days []day) (detect.Figure, bool) {
	if len(days) < minDays || days[0].ago > maxSilence || days[len(days)-1].ago-days[0].ago < detect.ForecastSpanDays-1 {
		return detect.Figure{}, false
	}
	slopes, variance := seasonalSlopes(days)
	if len(slopes) == 0 {
		return detect.Figure{}, false
	}
	value := median(slopes)
	r := autocorrelation(days, value)
	wide := z95 * math.Sqrt(variance*(1+r)/(1-r))
	n := float64(len(slopes))
	low, high := int(math.Floor((n-wide)/2))-1, int(math.Ceil((n+wide)/2))
	if low < 0 || high >= len(slopes) {
		return detect.Figure{}, false
	}
	return detect.Figure{Value: value, Low: slopes[low], High: slopes[high]}, true
}

// seasonalSlopes returns the slopes between all days of the same weekday, in ascending
// order, and the variance of Kendall's S over them.
func seasonalSlopes(days []day) (slopes []float64, variance float64) {
	var weekday [7][]day
	for _, d := range days {
		weekday[d.season()] = append(weekday[d.season()], d)
	}
	for _, same := range weekday {
		n := float64(len(same))
		variance += n * (n - 1) * (2*n + 5) / 18
		for i, a := range same {
			for _, b := range same[:i] {
				slopes = append(slopes, (b.even-a.even)/(b.t()-a.t()))
			}
		}
	}
	slices.Sort(slopes)
	return slopes, variance
}

// autocorrelation returns the correlation of a day with the day before, trend and weekday
// aside, from 0 to 0.8.
func autocorrelation(days []day, slope float64) float64 {
	middle := weekdayMedians(days, func(d day) float64 { return d.even - slope*d.t() })
	rest := map[int]float64{}
	var square, product float64
	for _, d := range days {
		e := d.even - slope*d.t() - middle[d.season()]
		rest[d.ago] = e
		square += e * e
	}
	for _, d := range days {
		product += rest[d.ago] * rest[d.ago+1] // 0 if a day is missing
	}
	if square == 0 {
		return 0
	}
	return max(0, min(0.8, product/square))
}

// halvesAgree reports whether the older and the newer half of the days each grow too.
func halvesAgree(days []day, slope float64) bool {
	middle := (days[0].ago + days[len(days)-1].ago) / 2
	cut := slices.IndexFunc(days, func(d day) bool { return d.ago > middle })
	for _, half := range [][]day{days[:cut], days[cut:]} {
		slopes, _ := seasonalSlopes(half)
		if len(slopes) == 0 || median(slopes) < halfAgrees*slope {
			return false
		}
	}
	return true
}

// trend is the line of the weekly peaks: level is its value now, off the level's 95%
// error, growth its rise a day.
type trend struct{ level, off, growth float64 }

func (t trend) isRising() bool { return t.level > 0 && t.growth > 0 }

// daysUntil returns the days until the trend reaches a level, from its own level plus moved
// times off.
func (t trend) daysUntil(to, moved float64) float64 {
	return (to - t.level - moved*t.off) / t.growth
}

// trendOf returns the weekly peaks' trend, given the slope of the days; the zero trend if
// there are too few weeks.
func trendOf(days []day, slope float64) trend {
	rest := make([]float64, len(days))
	for i, d := range days {
		rest[i] = d.even - slope*d.t()
	}
	slices.Sort(rest)
	rise := slope / median(rest) // a day, as a share of the present level
	type week struct {
		days int
		peak float64
	}
	weeks := map[int]*week{}
	for _, d := range days {
		w := weeks[d.ago/7]
		if w == nil {
			w = &week{}
			weeks[d.ago/7] = w
		}
		w.days++
		w.peak = max(w.peak, d.peak/max(minShare, 1+rise*d.t()))
	}
	var levels []float64
	for _, w := range weeks {
		if w.days >= weekDays {
			levels = append(levels, w.peak)
		}
	}
	if len(levels) < minWeeks {
		return trend{}
	}
	slices.Sort(levels)
	t := trend{level: median(levels)}
	t.growth = rise * t.level
	for i := range levels {
		levels[i] = math.Abs(levels[i] - t.level)
	}
	slices.Sort(levels)
	// 1.4826 turns the median deviation into a standard deviation, 1.2533 a mean's error
	// into a median's, for normal noise.
	t.off = z95 * 1.2533 * 1.4826 * median(levels) / math.Sqrt(float64(len(levels)))
	return t
}

// newCrossing returns days from now as dates. It returns nil if the trend has reached the
// level, or if the interval ends beyond reach.
func newCrossing(now time.Time, reach, at, earliest, latest float64) *detect.Crossing {
	earliest, latest = max(0, min(at, earliest)), max(at, latest)
	if at <= 0 || at > reach || latest > maxReach {
		return nil
	}
	date := func(days float64) time.Time {
		return now.Add(time.Duration(days * 24 * float64(time.Hour))).UTC().Truncate(time.Hour)
	}
	return &detect.Crossing{At: date(at), Earliest: date(earliest), Latest: date(latest)}
}

// weekdayMedians returns the median of each day of the week; not a number for one without
// days.
func weekdayMedians(days []day, value func(day) float64) (middle [7]float64) {
	var weekday [7][]float64
	for _, d := range days {
		weekday[d.season()] = append(weekday[d.season()], value(d))
	}
	for i, values := range weekday {
		middle[i] = math.NaN()
		if slices.Sort(values); len(values) > 0 {
			middle[i] = median(values)
		}
	}
	return middle
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Apply puts a key's growth into its finding, and adds to a sharding step the shards that
// the growth needs. A nil growth is unknown.
func Apply(f *detect.Finding, growth *detect.Forecast, headroom float64) {
	f.Forecast = growth
	if growth == nil || growth.Growth.Low <= 0 {
		return
	}
	i := slices.IndexFunc(f.Advice, func(s detect.Step) bool { return s.Action == detect.ActionShard })
	if i < 0 {
		return
	}
	peak, most := f.Peak.WCU.Value, detect.PartitionWrite
	if growth.Unit == "rcu" {
		peak, most = f.Peak.RCU.Value, detect.PartitionRead
	}
	then := max(peak, growth.Level) + detect.GrowthDays*growth.Growth.Value
	f.Advice = slices.Clone(f.Advice)
	f.Advice[i].Arguments.Grown = detect.Shards(detect.Milli(then), most, headroom)
}
