package split

import "github.com/keyheat/keyheat/detect"

// These thresholds decide a verdict. They were chosen on simulated patterns of sort keys
// at 1,300 to 5,000 units a second, sampled at 100, 10 and 1%. The tests of this package
// hold them against patterns of their own.
const (
	// slotSeconds seconds share a sample of slotPlaces places. A ring has one slot more
	// than a window takes, because a window seldom begins with a slot.
	slotSeconds, slotPlaces = 10, 128
	// window is the number of seconds that a verdict considers.
	window = detect.SplitSeconds
	slots  = window/slotSeconds + 1
	// A verdict needs earlySeconds and earlyPlaces, and a comparison eachPlaces in the
	// first third and in the last.
	earlySeconds, earlyPlaces, eachPlaces = 3, 30, 8
	// deviations is the number of standard deviations between a verdict and the limit.
	deviations = 3
	// coolShare is the share of a limit that parts are cut to for the verdict. DynamoDB
	// splits for heat from heatShare on, so figures are cut to it.
	coolShare, heatShare = 0.5, 0.9
	// levels is the most cuts inside one another.
	levels = 7
	// judgedAt is the share of the limit at which a cooler key is judged: whether a split
	// would help once the key is hot.
	judgedAt = 1.3
	// burstSeconds is the least time that shows bursts, and burstPeak the least ratio of
	// the highest second to the mean in a burst. A sampled second counts peakDeviations
	// deviations less, so that the highest second of an hour is unbiased.
	burstSeconds, burstPeak, peakDeviations = window / 2, 1.5, 2.15
	// directed is the share of the load beyond the earlier keys from which the load rises
	// or falls. Below it, the load wanders.
	directed = 0.5
	// stepped is the probability from which the load rises: that a request has a greater
	// sort key than a request of the third before. It is 0.75 for a queue whose tail is
	// minutes behind its head, and 0.5 for writers that begin again.
	stepped = 0.7
	// turnSeconds is the least number of seconds that shows parts to be full in turn.
	turnSeconds = 5
	// itemsKept is the number of items kept of a second.
	itemsKept = 4
	// itemShare is the least share of a load on one item that keeps the load from moving.
	itemShare = 0.8
)
