package forecast

import "time"

// Memory is the age of the oldest peaks that a forecast uses.
const Memory = 90 * 24 * time.Hour

// Requirements on the data of a forecast, beside detect.ForecastSpanDays. With less data
// there is no forecast.
const (
	// minDays is the least number of days with the key.
	minDays = 15
	// minWeeks is the least number of weeks with a peak, each with the key on at least
	// weekDays days.
	minWeeks, weekDays = 3, 4
	// maxSilence is the longest time without the key, in days; an older trend is history.
	maxSilence = 7
	// reachFactor is the outlook of a trend, as a multiple of the observed days. maxReach
	// bounds the outlook, in days.
	reachFactor, maxReach = 4, 365
	// halfAgrees is the least part of the whole slope that each half of the data must
	// show by itself: a step is no growth.
	halfAgrees = 0.25
	// minShare is the least assumed share of its present load that a growing key had in
	// the past.
	minShare = 0.02
	// z95 is the normal quantile of a 95% interval.
	z95 = 1.96
)
