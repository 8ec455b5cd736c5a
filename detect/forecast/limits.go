package forecast

import "time"

// Memory is how far back peaks are of use to a forecast.
const Memory = 90 * 24 * time.Hour

// What a forecast asks of its data, beside detect.ForecastSpanDays. With less than
// this there is none.
const (
	// minDays is on how many days the key must have been seen.
	minDays = 15
	// minWeeks is how many weeks must have a peak, each seen on at least weekDays
	// days.
	minWeeks, weekDays = 3, 4
	// maxSilence is after how many days without the key a trend is history.
	maxSilence = 7
	// reachFactor is how far ahead a trend is followed, in multiples of the days it
	// was seen over; maxReach is the bound of that, in days.
	reachFactor, maxReach = 4, 365
	// halfAgrees is the part of the whole slope that each half of the data must
	// show by itself: a step is no growth.
	halfAgrees = 0.25
	// minShare is the least that a growing key is taken to have had of what it has
	// now.
	minShare = 0.02
	// z95 is the normal quantile of a 95% interval.
	z95 = 1.96
)
